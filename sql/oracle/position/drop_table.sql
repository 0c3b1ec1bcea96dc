-- A table of the slave's. It goes into the recycle bin, if the database has one: FLASHBACK TABLE brings it back. Manual: SQL Language
-- Reference, "DROP TABLE".
DROP TABLE {table}
