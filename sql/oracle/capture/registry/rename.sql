-- A watched table has another name, and is watched on. Manual: SQL Language Reference, "UPDATE".
UPDATE {tables} SET schemaname = :schema, tablename = :name WHERE relid = :relation
