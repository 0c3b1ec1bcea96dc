-- Commits, as all DDL of lasting tables does. Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {table} ({columns})
