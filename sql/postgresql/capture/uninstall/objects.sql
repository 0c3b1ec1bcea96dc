-- Every DbResource of one prefix, in the order in which they can be dropped. By whole names: what another prefix made, one
-- that begins with this one, is none of them.
SELECT kind, identity
FROM (
    SELECT 1 AS place, 'EVENT TRIGGER' AS kind, quote_ident(evtname) AS identity
    FROM pg_event_trigger
    JOIN pg_proc AS function ON function.oid = evtfoid
    JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
    WHERE namespace.nspname = {schema_name} AND function.proname = ANY ({names})
    UNION ALL
    SELECT 2, 'TRIGGER', format('%I ON %s', tgname, tgrelid::regclass)
    FROM pg_trigger
    JOIN pg_proc AS function ON function.oid = tgfoid
    JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
    WHERE NOT tgisinternal AND tgparentid = 0 AND namespace.nspname = {schema_name}
      AND (function.proname = ANY ({names}) OR function.proname ~ {generated})
    UNION ALL
    SELECT CASE relkind WHEN 'v' THEN 3 WHEN 'r' THEN 5 ELSE 6 END,
           CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'r' THEN 'TABLE' ELSE 'SEQUENCE' END, class.oid::regclass::text
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = {schema_name} AND class.relname = ANY ({names}) AND relkind IN ('r', 'v', 'S')
    UNION ALL
    SELECT 4, 'FUNCTION', function.oid::regprocedure::text
    FROM pg_proc AS function
    JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
    WHERE namespace.nspname = {schema_name} AND (function.proname = ANY ({names}) OR function.proname ~ {generated})
) AS found
ORDER BY place, identity
