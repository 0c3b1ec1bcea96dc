-- Tables of which the server's log does not say all, and why.
SELECT namespace.nspname, class.relname,
    CASE WHEN member.relpersistence = 'u' THEN 'is unlogged'
         ELSE format('has the generated column %s', (
             SELECT quote_ident(attname) FROM pg_attribute AS a
             WHERE a.attrelid = member.oid AND a.attgenerated <> '' AND NOT a.attisdropped
               AND (a.attgenerated = 'v' OR current_setting('server_version_num')::integer < 180000)
             ORDER BY attnum LIMIT 1))
    END
FROM unnest({tables}::text[]::regclass[]) AS wanted (relid)
JOIN pg_class AS class ON class.oid = wanted.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL (
    SELECT class.oid UNION SELECT relid FROM pg_partition_tree(class.oid) WHERE class.relkind = 'p'
) AS tree (relid)
JOIN pg_class AS member ON member.oid = tree.relid
WHERE member.relpersistence = 'u'
   OR EXISTS (
    SELECT FROM pg_attribute AS a
    WHERE a.attrelid = member.oid AND a.attgenerated <> '' AND NOT a.attisdropped
      AND (a.attgenerated = 'v' OR current_setting('server_version_num')::integer < 180000))
ORDER BY 1, 2
LIMIT 1
