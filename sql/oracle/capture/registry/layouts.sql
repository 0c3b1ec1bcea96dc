-- Manual: SQL Language Reference, "SELECT".
SELECT recorded.repl_key, recorded.relid, recorded.schemaname, recorded.tablename, recorded.columns, recorded.key_columns,
       recorded.deferred
FROM {layouts} recorded
ORDER BY recorded.repl_key
