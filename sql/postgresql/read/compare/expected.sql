-- A table of this session with the types of a slave's table, for the rows that it should have.
CREATE TEMPORARY TABLE {expected} AS SELECT {columns} FROM {table} WHERE false
