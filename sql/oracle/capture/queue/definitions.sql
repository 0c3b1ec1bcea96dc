-- How tables are behind commands, as triggers noted it; one table's commands are in the order of their keys, since each holds its table
-- until its commit. Manual: SQL Language Reference, "ALTER TABLE".
SELECT item.repl_key, item.relid, item.content, item.oldcontent
FROM {items} item
WHERE item.db_action = 'ALTER' AND item.content IS NOT NULL
ORDER BY item.repl_key
