-- Foreign keys with an action that refer to a table, or to what its rows are a part of: by these its rows take rows of other
-- tables with them.
SELECT namespace.nspname, child.relname, array_agg(c.conname::text)
FROM pg_constraint AS c
JOIN pg_class AS child ON child.oid = c.conrelid
JOIN pg_namespace AS namespace ON namespace.oid = child.relnamespace
WHERE c.contype = 'f' AND c.conparentid = 0 AND (c.confupdtype IN ('c', 'n', 'd') OR c.confdeltype IN ('c', 'n', 'd'))
  AND c.confrelid IN (
    SELECT %(relation)s::regclass
    UNION ALL SELECT relid FROM pg_partition_tree(%(relation)s::regclass)
    UNION ALL SELECT relid FROM pg_partition_ancestors(%(relation)s::regclass) AS above (relid))
GROUP BY namespace.nspname, child.relname
ORDER BY namespace.nspname, child.relname
