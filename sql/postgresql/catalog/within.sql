-- Partitions among these tables, each with a table above it that is one of them.
WITH RECURSIVE above (part, relid) AS (
    SELECT inhrelid, inhparent FROM pg_inherits JOIN pg_class ON oid = inhrelid AND relispartition
    WHERE inhrelid = ANY (%(relations)s::oid[])
    UNION
    SELECT above.part, inhparent FROM above JOIN pg_inherits ON inhrelid = above.relid
)
SELECT part, relid FROM above WHERE relid = ANY (%(relations)s::oid[]) ORDER BY part, relid
