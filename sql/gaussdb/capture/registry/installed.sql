-- Whether the DbResources are there.
SELECT count(*) = 2
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname = {schema}::text AND class.relname::text IN ({state_name}::text, {tables_name}::text) AND class.relkind = 'r'
