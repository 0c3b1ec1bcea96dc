-- The triggers of ours that tables have: those that call functions of ours, since a name may be changed by anybody. Of
-- partitions, those that they have for themselves.
SELECT namespace.nspname, class.relname, found.tgname, found.tgenabled
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
JOIN pg_trigger AS found ON found.tgrelid = class.oid OR found.tgrelid IN (SELECT relid FROM pg_partition_tree(class.oid))
JOIN pg_proc AS function ON function.oid = found.tgfoid
JOIN pg_namespace AS ours ON ours.oid = function.pronamespace
WHERE NOT found.tgisinternal AND found.tgparentid = 0
  AND ours.nspname = {schema_name} AND function.proname IN ({capture} || class.oid, {mark})
