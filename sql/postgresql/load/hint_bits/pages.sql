-- The relations that hold a table's rows, and how many pages each has.
SELECT namespace.nspname, class.relname, pg_relation_size(class.oid) / current_setting('block_size')::integer
FROM (
    SELECT %(table)s::regclass::oid UNION SELECT relid::oid FROM pg_partition_tree(%(table)s::regclass)
) AS part (relid)
JOIN pg_class AS class ON class.oid = part.relid AND class.relkind = 'r'
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
