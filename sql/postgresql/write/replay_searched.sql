-- The row that is found by the searchable columns; of several, one that looks like the image. If several are found and
-- none of them does, nobody can tell which is meant: more than one row of a subquery is an error.
(target.tableoid, target.ctid) = (
    WITH found AS MATERIALIZED (
        SELECT alike.tableoid, alike.ctid, ROW({own})::text = ROW({image})::text AS whole
        FROM {rows} AS alike
        WHERE {searched}
    )
    (SELECT found.tableoid, found.ctid FROM found WHERE found.whole LIMIT 1)
    UNION ALL
    SELECT found.tableoid, found.ctid FROM found WHERE NOT EXISTS (SELECT FROM found WHERE found.whole))
