-- The triggers of ours that a table has: those that call functions of ours, since a name may be changed by anybody.
SELECT found.tgname, found.tgenabled
FROM pg_trigger AS found
JOIN pg_class AS class ON class.oid = found.tgrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_proc AS function ON function.oid = found.tgfoid
JOIN pg_namespace AS ours ON ours.oid = function.pronamespace
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND NOT found.tgisinternal AND found.tgparentid = 0
  AND ours.nspname = {schema_name} AND function.proname IN ({capture} || class.oid, {mark})
