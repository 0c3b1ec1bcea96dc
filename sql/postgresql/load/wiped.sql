-- What goes with a schema: its type and its name as a DROP takes them, and its place in the catalogs. Left out is what goes
-- with something else (partitions, sequences of a column, indexes of a constraint), what an extension has brought, and what is
-- Sluice's.
WITH there (kind, class, oid) AS (
    SELECT CASE WHEN relkind IN ('r', 'p', 'f') THEN 'tables' WHEN relkind IN ('v', 'm') THEN 'views'
                WHEN relkind = 'S' THEN 'sequences' WHEN relkind IN ('i', 'I') THEN 'indexes' END,
           'pg_class'::regclass, pg_class.oid
    FROM pg_class WHERE relnamespace = quote_ident(%(schema)s)::regnamespace AND NOT relispartition
    UNION ALL
    SELECT CASE WHEN prokind = 'p' THEN 'procedures' ELSE 'functions' END, 'pg_proc'::regclass, pg_proc.oid
    FROM pg_proc WHERE pronamespace = quote_ident(%(schema)s)::regnamespace
    UNION ALL
    SELECT 'triggers', 'pg_trigger'::regclass, pg_trigger.oid
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = quote_ident(%(schema)s)::regnamespace AND NOT tgisinternal AND tgparentid = 0
)
SELECT named.type, named.identity, class::oid::bigint, there.oid::bigint
FROM there
CROSS JOIN LATERAL pg_identify_object(class, there.oid, 0) AS named
WHERE kind = ANY (%(kinds)s::text[])
  AND NOT EXISTS (
    SELECT FROM pg_depend WHERE classid = class AND objid = there.oid AND objsubid = 0 AND (deptype IN ('e', 'i')
        OR (deptype = 'a' AND kind = 'sequences')))
  AND NOT EXISTS (
    SELECT FROM pg_class AS ours JOIN pg_namespace ON pg_namespace.oid = ours.relnamespace
    WHERE ours.relname = ANY (%(ours)s::text[]) AND nspname = %(schema)s::text AND (ours.oid = there.oid
        OR EXISTS (SELECT FROM pg_index WHERE indrelid = ours.oid AND indexrelid = there.oid)))
ORDER BY 1, 2
