-- Tables whose names differ from these in case or blanks alone.
WITH wanted AS (
    SELECT nspname, relname FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
)
SELECT wanted.nspname, wanted.relname, namespace.nspname, class.relname
FROM wanted
CROSS JOIN pg_namespace AS namespace
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relkind IN ('r', 'p')
WHERE (namespace.nspname, class.relname) <> (wanted.nspname, wanted.relname)
  AND lower(regexp_replace(namespace.nspname, '\s', '', 'g')) = lower(regexp_replace(wanted.nspname, '\s', '', 'g'))
  AND lower(regexp_replace(class.relname, '\s', '', 'g')) = lower(regexp_replace(wanted.relname, '\s', '', 'g'))
ORDER BY namespace.nspname, class.relname
