-- The notes of definitions of watched tables that wait. Keys are not committed in their order. Manual: SQL Language Reference, "SELECT".
SELECT item.repl_key FROM {items} item WHERE item.db_action IN ('CREATE', 'ALTER', 'DROP') AND item.relid <> 0
