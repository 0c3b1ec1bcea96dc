-- The row that bears a key, where no index says that there is one at most: more than one row of a subquery is an error.
(target.tableoid, target.ctid) = (SELECT one.tableoid, one.ctid FROM {rows} AS one WHERE {same})
