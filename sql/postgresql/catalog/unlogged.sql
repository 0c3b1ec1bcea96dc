-- Tables, or partitions of them, of which nothing is left after a crash of the server.
WITH RECURSIVE tree (relid) AS (
    SELECT unnest({tables})
    UNION
    SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = relid JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT namespace.nspname || '.' || class.relname, namespace.nspname, class.relname
FROM tree
JOIN pg_class AS class ON class.oid = tree.relid AND class.relkind = 'r' AND class.relpersistence = 'u'
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
ORDER BY 1
