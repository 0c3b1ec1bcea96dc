-- Reading a table, also as it was. Manual: SQL Language Reference, "GRANT", "Flashback Query".
GRANT SELECT, FLASHBACK ON {table} TO {user}
