-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {current_tables} entry
WHERE entry.relid = :relation OR (entry.schemaname = :schema AND entry.relname = :name)
