-- A text for the files of each table and of its partitions. TRUNCATE, a rewrite or another table in its place changes it.
WITH RECURSIVE tree (nspname, relname, relid) AS (
    SELECT wanted.nspname, wanted.relname, class.oid
    FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
    JOIN pg_namespace AS namespace ON namespace.nspname = wanted.nspname
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
    UNION
    SELECT nspname, tree.relname, inhrelid
    FROM tree
    JOIN pg_inherits ON inhparent = relid
    JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT nspname, relname, md5(string_agg(format('%%s %%s', relid, pg_relation_filenode(relid)), ' ' ORDER BY relid))
FROM tree
GROUP BY nspname, relname
