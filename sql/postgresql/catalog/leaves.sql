-- The relations that hold a table's rows, with their sizes in blocks, and what changes when rows are written to another
-- file, or the triggers that capture them come or go.
SELECT class.oid::bigint, namespace.nspname, class.relname,
       ceil(pg_relation_size(class.oid) / current_setting('block_size')::numeric)::bigint,
       concat_ws(' ', pg_relation_filenode(class.oid), (
           SELECT string_agg(tgenabled::text || pg_trigger.oid, ' ' ORDER BY pg_trigger.oid)
           FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal))
FROM (SELECT %(relation)s::regclass::oid AS relid UNION SELECT relid::oid FROM pg_partition_tree(%(relation)s::regclass)) AS t
JOIN pg_class AS class ON class.oid = t.relid AND class.relkind = 'r'
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
ORDER BY 1
