-- How many rows of a range the server expects, by its statistics.
EXPLAIN FORMAT = TRADITIONAL SELECT * FROM {table} WHERE {within}
