-- A table of ours. Manual: SQL Language Reference, "DROP TABLE".
DROP TABLE {table} PURGE
