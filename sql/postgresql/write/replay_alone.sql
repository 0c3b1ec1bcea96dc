-- All rows of a key but one; where no index lets a key be there once at most.
DELETE FROM {rows} AS target
WHERE {same} AND (target.tableoid, target.ctid) <> (
    SELECT one.tableoid, one.ctid FROM {rows} AS one WHERE {same_one} ORDER BY one.tableoid, one.ctid LIMIT 1)
