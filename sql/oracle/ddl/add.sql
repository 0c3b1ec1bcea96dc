-- Rows of before have the default at once, whatever becomes of it later. Manual: SQL Language Reference, "ALTER TABLE",
-- "add_column_clause".
ALTER TABLE {table} ADD ({columns})
