-- The new name has no schema: a table stays where it is. Manual: SQL Language Reference, "ALTER TABLE", "RENAME TO".
ALTER TABLE {table} RENAME TO {becomes}
