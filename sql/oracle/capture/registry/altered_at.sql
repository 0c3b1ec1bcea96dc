-- The key of the first ALTER of a table after its newest columns were recorded, of which nothing is known but that: new columns hold from
-- there on (R7). Manual: SQL Language Reference, "MIN".
SELECT MIN(item.repl_key) FROM {items} item
WHERE item.relid = :relation AND item.db_action = 'ALTER' AND item.repl_key > :layout AND item.content IS NULL
