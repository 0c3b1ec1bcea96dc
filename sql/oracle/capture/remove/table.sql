-- Manual: SQL Language Reference, "DROP TABLE".
DROP TABLE {name} PURGE
