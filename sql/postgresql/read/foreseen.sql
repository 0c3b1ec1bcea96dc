-- What the planner expects of the rest of a range, by its statistics: nothing is read.
EXPLAIN (FORMAT json) SELECT * FROM {rows} WHERE {within}
