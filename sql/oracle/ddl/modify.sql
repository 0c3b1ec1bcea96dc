-- All columns at once, or none. NULL and NOT NULL stand only where they change (ORA-01442, ORA-01451). "DEFAULT NULL" takes a default
-- away, and changes no row. Manual: SQL Language Reference, "ALTER TABLE", "modify_column_clauses".
ALTER TABLE {table} MODIFY ({columns})
