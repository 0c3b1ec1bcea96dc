-- Checks that rows may not meet which were there before them, and what they are. Not where somebody captures what is done to the
-- table.
SELECT namespace.nspname, class.relname, c.conname, pg_get_constraintdef(c.oid)
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (schema, "table")
JOIN pg_namespace AS namespace ON namespace.nspname = wanted.schema
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted."table"
JOIN pg_constraint AS c ON c.conrelid = class.oid AND c.contype = 'c' AND NOT c.convalidated AND c.coninhcount = 0
WHERE pg_get_constraintdef(c.oid) LIKE '%% NOT VALID' AND pg_has_role(class.relowner, 'USAGE')
  AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal)
