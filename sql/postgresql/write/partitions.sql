-- A table and its partitions.
SELECT array_agg(DISTINCT tree.relid::bigint)
FROM pg_namespace AS namespace
JOIN pg_class AS class ON class.relnamespace = namespace.oid
CROSS JOIN LATERAL (SELECT class.oid AS relid UNION ALL SELECT relid FROM pg_partition_tree(class.oid)) AS tree
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
