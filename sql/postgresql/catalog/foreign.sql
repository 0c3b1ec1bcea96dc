-- Foreign tables among the partitions of these tables, and the table of each.
WITH RECURSIVE tree (root, relid) AS (
    SELECT root, root FROM unnest({tables}) AS root
    UNION
    SELECT tree.root, inhrelid
    FROM tree
    JOIN pg_inherits ON inhparent = tree.relid
    JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT tree.root::text, class.oid::regclass::text
FROM tree
JOIN pg_class AS class ON class.oid = tree.relid AND class.relkind = 'f'
ORDER BY 1, 2
