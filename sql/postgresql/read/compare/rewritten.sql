-- Whether a name stands for other rows than this session's snapshot shows under it: the table was rewritten or truncated
-- since, which leaves it empty there (PostgreSQL manual, "Caveats" of concurrency control), another table bears its name, or
-- partitions came or went, or are about to: the server takes the name, and the partitions, as they are now.
WITH RECURSIVE shown (relid) AS (
    SELECT class.oid
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
    UNION
    SELECT below.inhrelid
    FROM shown
    JOIN pg_inherits AS below ON below.inhparent = shown.relid
    JOIN pg_class AS class ON class.oid = below.inhrelid AND class.relispartition
), named (relid) AS (
    SELECT %(relation)s::regclass::oid
    UNION
    SELECT relid::oid FROM pg_partition_tree(%(relation)s::regclass)
)
SELECT EXISTS (
    SELECT
    FROM shown
    FULL JOIN named USING (relid)
    LEFT JOIN pg_class AS class ON class.oid = relid
    WHERE shown.relid IS NULL OR named.relid IS NULL
       OR class.relkind = 'r' AND pg_relation_filenode(class.oid) IS DISTINCT FROM class.relfilenode)
