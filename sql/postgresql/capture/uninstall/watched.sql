-- The tables that have triggers of one prefix.
SELECT DISTINCT namespace.nspname, class.relname
FROM pg_trigger
JOIN pg_class AS class ON class.oid = tgrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_proc AS function ON function.oid = tgfoid
JOIN pg_namespace AS own ON own.oid = function.pronamespace
WHERE NOT tgisinternal AND tgparentid = 0 AND own.nspname = {schema_name}
  AND (function.proname = ANY ({names}) OR function.proname ~ {generated})
