-- Whether a table was rewritten or truncated after this session's snapshot, which shows none of its rows then
-- (PostgreSQL manual, "Caveats" of concurrency control): the catalog as the snapshot has it, beside the catalog of now.
SELECT coalesce(bool_or(pg_relation_filenode(class.oid) IS DISTINCT FROM class.relfilenode), false)
FROM pg_class AS class
WHERE class.relkind = 'r'
  AND class.oid IN (
    SELECT %(relation)s::regclass::oid UNION SELECT relid::oid FROM pg_partition_tree(%(relation)s::regclass))
