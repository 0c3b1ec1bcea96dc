-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {tables} entry WHERE entry.schemaname = :schema AND entry.tablename = :name
