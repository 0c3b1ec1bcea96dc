-- Which of these tables are there and have no column.
SELECT namespace.nspname, class.relname
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
WHERE NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped)
