-- The relations that hold rows of tables, each after its table's place among them, with their sizes in bytes and in blocks, and what
-- changes when rows are written to another file, or the triggers that capture them come or go. Partitions as the transaction's
-- snapshot has them, not pg_partition_tree: rows of one that was attached since are in the stream, as the ATTACH is (R5).
SELECT wanted.n, namespace.nspname, class.relname,
       pg_relation_size(class.oid),
       ceil(pg_relation_size(class.oid) / current_setting('block_size')::numeric)::bigint,
       concat_ws(' ', pg_relation_filenode(class.oid), (
           SELECT string_agg(tgenabled::text || pg_trigger.oid, ' ' ORDER BY pg_trigger.oid)
           FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal))
FROM unnest(%(relations)s::text[]::regclass[]) WITH ORDINALITY AS wanted (relid, n)
CROSS JOIN LATERAL {tree}(wanted.relid::oid) AS t (relid)
JOIN pg_class AS class ON class.oid = t.relid AND class.relkind = 'r'
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
ORDER BY wanted.n, class.oid
