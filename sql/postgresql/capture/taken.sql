-- A trigger of the application, or of another prefix, that bears one of the names that we need.
SELECT found.tgname
FROM pg_trigger AS found
JOIN pg_proc AS function ON function.oid = found.tgfoid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE found.tgrelid = %(relation)s AND found.tgname = ANY (%(names)s)
  AND NOT (namespace.nspname = {schema_name} AND function.proname IN ({capture} || found.tgrelid, {mark}))
ORDER BY found.tgname
LIMIT 1
