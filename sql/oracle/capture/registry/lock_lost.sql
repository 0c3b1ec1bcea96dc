-- Whether a table is LOST, and nobody marks it until the commit (R9). Manual: SQL Language Reference, "SELECT", "for_update_clause".
SELECT entry.lost FROM {tables} entry WHERE entry.schemaname = :schema AND entry.tablename = :name FOR UPDATE
