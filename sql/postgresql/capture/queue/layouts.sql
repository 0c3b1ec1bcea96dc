SELECT repl_key, relid::bigint, schemaname, tablename, columns, key, deferred FROM {layouts} ORDER BY relid, repl_key
