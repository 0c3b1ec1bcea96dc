-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {layouts} (repl_key, relid, schemaname, tablename, columns, key_columns, deferred)
VALUES (:layout, :relation, :schema, :name, :columns, :key, :deferred)
