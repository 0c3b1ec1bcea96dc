-- A table and all partitions below it. Not pg_partition_tree, which locks each of them: a sweep would hold up, or be a
-- deadlock with, whoever truncates, alters or drops one (R9). One that is detached CONCURRENTLY is a partition until the
-- statement ends, which may wait long for transactions that are open.
CREATE OR REPLACE FUNCTION {tree}(root oid) RETURNS SETOF oid
LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $tree$
    WITH RECURSIVE tree (relid) AS (
        SELECT root
        UNION
        SELECT below.inhrelid
        FROM tree
        JOIN pg_inherits AS below ON below.inhparent = tree.relid
        JOIN pg_class AS class ON class.oid = below.inhrelid AND class.relispartition
    )
    SELECT relid FROM tree
$tree$
