-- Of these tables, of those that the registry lists as WANTED, and of those that wildcards of the last bootstrap take, the
-- ones that are not watched: what bears the name, if anything does; whether it has no column; whether a look of the
-- publisher is to watch it; whether our role may; the watched table that it is a partition of. Wildcards are asked of
-- tables without an entry alone. Without detection they take none that is made later, and never an unlogged one of which
-- the server's log tells nothing. Each step is done once, whatever is known of how large tables are: of new ones nothing is.
WITH settings AS (
    SELECT coalesce(bool_or(detection), true) AS detection, coalesce(bool_or(by_log), false) AS by_log FROM {settings}
), living AS MATERIALIZED (
    SELECT relid, schemaname::text, relname::text AS tablename FROM ({eligible}) AS living
), matched AS MATERIALIZED (
    SELECT living.schemaname, living.tablename
    FROM living
    WHERE living.relid NOT IN (SELECT entry.relid::oid FROM {tables} AS entry WHERE entry.relid IS NOT NULL)
      AND EXISTS (
        SELECT FROM {wanted} AS entry
        WHERE entry.wildcard AND NOT entry.excluded AND entry.schemaname = living.schemaname
          AND starts_with(living.tablename, entry.tablename))
), named AS (
    SELECT schemaname, tablename FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS named (schemaname, tablename)
    UNION
    SELECT schemaname, tablename FROM {tables} WHERE status = 'WANTED'
    UNION
    SELECT schemaname, tablename FROM matched WHERE EXISTS (SELECT FROM {wants}(schemaname::text, tablename::text))
), uncaptured AS MATERIALIZED (
    SELECT named.schemaname, named.tablename, class.oid, class.relkind, class.relowner, class.relispartition,
           class.relpersistence
    FROM named
    LEFT JOIN pg_namespace AS namespace ON namespace.nspname = named.schemaname
    LEFT JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = named.tablename
    WHERE class.oid IS NULL
       OR class.oid NOT IN (SELECT entry.relid::oid FROM {tables} AS entry WHERE entry.relid IS NOT NULL)
)
SELECT relation.schemaname, relation.tablename, relation.relkind,
       NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation.oid AND a.attnum > 0 AND NOT a.attisdropped),
       chosen.wildcard IS NOT NULL AND (settings.detection OR NOT chosen.wildcard), pg_has_role(relation.relowner, 'USAGE'),
       whole.schemaname, whole.tablename
FROM uncaptured AS relation
CROSS JOIN settings
LEFT JOIN LATERAL {wants}(relation.schemaname::text, relation.tablename::text) AS chosen ON true
LEFT JOIN LATERAL (
    SELECT entry.schemaname, entry.tablename
    FROM pg_partition_ancestors(relation.oid) AS above (relid)
    JOIN {tables} AS entry USING (relid)
    WHERE relation.relispartition
    LIMIT 1
) AS whole ON true
WHERE NOT (settings.by_log AND relation.relpersistence = 'u' AND coalesce(chosen.wildcard, false))
ORDER BY relation.schemaname, relation.tablename
