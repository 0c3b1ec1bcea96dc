-- One column a statement. Manual: SQL Language Reference, "ALTER TABLE", "rename_column_clause".
ALTER TABLE {table} RENAME COLUMN {column} TO {becomes}
