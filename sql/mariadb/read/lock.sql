-- Behind it nobody writes to the table until the session gives it up; and who did so has committed.
LOCK TABLES {table} READ
