-- The newest definition of a table that was noted. Manual: SQL Language Reference, "MAX".
SELECT MAX(item.repl_key) FROM {items} item WHERE item.db_action IN ('CREATE', 'ALTER', 'DROP')
