-- Together, since foreign keys may lead from one to another. What else depends on one of them makes this fail.
DROP TABLE IF EXISTS {tables}
