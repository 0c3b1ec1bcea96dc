-- What our role may not do that filling these tables needs: emptying and writing those that are there, and making others.
SELECT 'table ' || class.relname
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
WHERE NOT (has_table_privilege(class.oid, 'INSERT') AND has_table_privilege(class.oid, 'TRUNCATE'))
UNION ALL
SELECT CASE WHEN namespace.oid IS NULL THEN 'database ' || current_database() ELSE 'schema ' || wanted.nspname END
FROM unnest(%(made)s::text[]) AS wanted (nspname)
LEFT JOIN pg_namespace AS namespace USING (nspname)
WHERE NOT CASE WHEN namespace.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
               ELSE has_schema_privilege(namespace.oid, 'CREATE') END
LIMIT 1
