-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {current_tables} (relid, schemaname, relname, definition) VALUES (:relation, :schema, :name, :definition)
