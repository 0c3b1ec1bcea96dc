-- How many rows of a range the server expects, by its statistics.
EXPLAIN SELECT * FROM {table} WHERE {within}
