-- A trigger of the application, or of another prefix, that bears one of the names that we need: its place among them.
SELECT wanted.n
FROM unnest(%(relations)s::text[]::regclass[], %(names)s::text[]) WITH ORDINALITY AS wanted (relid, tgname, n)
JOIN pg_trigger AS found ON found.tgrelid = wanted.relid AND found.tgname = wanted.tgname
JOIN pg_proc AS function ON function.oid = found.tgfoid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE NOT (namespace.nspname = {schema_name} AND function.proname IN ({capture} || found.tgrelid, {mark}))
ORDER BY wanted.n
LIMIT 1
