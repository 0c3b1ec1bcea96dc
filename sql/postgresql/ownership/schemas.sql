-- Whether the DbResources' schema is there, whether they are in it, and whether those of an older version are in `public`. By
-- the catalog: who may not use the schema yet learns it as well.
SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema_name}),
       coalesce(bool_or(namespace.nspname = {schema_name}), false),
       coalesce(bool_or(namespace.nspname = {shared_name}), false)
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relname = {state_name} AND class.relkind = 'r'
