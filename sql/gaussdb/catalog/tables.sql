-- The ordinary tables of schemas, with what says how they are stored: 'p' is logged, as replication needs it.
SELECT namespace.nspname::text, class.relname::text, class.oid::bigint, class.relpersistence::text
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind = 'r' AND namespace.nspname::text = ANY (%(schemas)s::text[])
ORDER BY 1, 2
