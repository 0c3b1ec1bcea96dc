-- A table, its partitions and the tables that it is a partition of.
WITH RECURSIVE tree (relid) AS (
    SELECT there.relid
    UNION
    SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = relid JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT relid FROM tree
UNION
SELECT relid::oid FROM pg_partition_ancestors(there.relid)
