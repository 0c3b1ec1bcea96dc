-- The relations that hold a table's rows, with their sizes in blocks.
SELECT class.oid::bigint, namespace.nspname, class.relname,
       ceil(pg_relation_size(class.oid) / current_setting('block_size')::numeric)::bigint
FROM (SELECT %(relation)s::regclass::oid AS relid UNION SELECT relid::oid FROM pg_partition_tree(%(relation)s::regclass)) AS t
JOIN pg_class AS class ON class.oid = t.relid AND class.relkind = 'r'
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
ORDER BY 1
