-- Manual: SQL Language Reference, "ALTER TABLE", "drop_constraint_clause".
ALTER TABLE {table} DROP PRIMARY KEY
