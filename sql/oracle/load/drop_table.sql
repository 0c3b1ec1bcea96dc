-- Foreign keys among the tables that go may be a circle. Commits; the table goes into the recycle bin, if the database has one.
-- Manual: SQL Language Reference, "DROP TABLE".
DROP TABLE {name} CASCADE CONSTRAINTS
