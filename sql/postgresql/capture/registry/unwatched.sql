-- Of these tables, and of those that the registry lists as WANTED, the ones that it does not watch: what bears the name, if
-- anything does; whether it has no column; whether it is listed; whether our role may watch it; the watched table that it is a partition of.
WITH named AS (
    SELECT schemaname, tablename FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS named (schemaname, tablename)
    UNION
    SELECT schemaname, tablename FROM {tables} WHERE status = 'WANTED'
)
SELECT named.schemaname, named.tablename, class.relkind,
       NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped),
       listed.status IS NOT NULL, pg_has_role(class.relowner, 'USAGE'),
       whole.schemaname, whole.tablename
FROM named
LEFT JOIN pg_namespace AS namespace ON namespace.nspname = named.schemaname
LEFT JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = named.tablename
LEFT JOIN {tables} AS listed
    ON (listed.schemaname, listed.tablename, listed.status) = (named.schemaname, named.tablename, 'WANTED')
LEFT JOIN LATERAL (
    SELECT entry.schemaname, entry.tablename
    FROM pg_partition_ancestors(class.oid) AS above (relid)
    JOIN {tables} AS entry USING (relid)
    WHERE class.relispartition
    LIMIT 1
) AS whole ON true
WHERE NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = class.oid)
ORDER BY named.schemaname, named.tablename
