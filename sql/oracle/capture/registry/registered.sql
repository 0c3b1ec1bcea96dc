-- The watched tables with their newest columns, and the key of those that the trigger was made for. Manual: SQL Language Reference, "SELECT", "Joins".
SELECT entry.schemaname, entry.tablename, entry.actions, entry.trigger_name, entry.debug, entry.old_images, entry.lost,
       entry.status, entry.relid, recorded.repl_key, recorded.columns, recorded.key_columns, recorded.deferred,
       entry.repl_key
FROM {tables} entry
JOIN {layouts} recorded ON recorded.relid = entry.relid
WHERE recorded.repl_key = (SELECT MAX(other.repl_key) FROM {layouts} other WHERE other.relid = entry.relid)
