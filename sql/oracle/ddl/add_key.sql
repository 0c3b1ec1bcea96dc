-- Manual: SQL Language Reference, "ALTER TABLE", "constraint_clauses".
ALTER TABLE {table} ADD PRIMARY KEY ({columns})
