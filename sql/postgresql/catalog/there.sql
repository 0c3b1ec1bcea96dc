-- Which of these are there, with their numbers and kinds.
SELECT namespace.nspname, class.relname, class.oid::bigint, class.relkind
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
