-- The LONG of a row as it is now. Manual: SQL Language Reference, "ROWID Pseudocolumn", "CHARTOROWID", "LONG Data Type".
SELECT {column} FROM {table} WHERE ROWID = CHARTOROWID(:place)
