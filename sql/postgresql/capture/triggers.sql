-- The triggers of ours that a table has: those that call functions of ours, since a name may be changed by anybody.
SELECT found.tgname, found.tgenabled
FROM pg_trigger AS found
JOIN pg_proc AS function ON function.oid = found.tgfoid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE found.tgrelid = %(relation)s AND NOT found.tgisinternal AND found.tgparentid = 0
  AND namespace.nspname = {schema_name} AND function.proname = ANY ({functions})
