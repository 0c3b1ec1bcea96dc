-- Functions of event triggers that our role may not drop, or whose event triggers it may not: somebody who may made them for it.
SELECT format('%I.%I', namespace.nspname, function.proname)
FROM pg_event_trigger
JOIN pg_proc AS function ON function.oid = evtfoid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE namespace.nspname = {schema_name} AND function.proname = ANY ({names})
  AND NOT (pg_has_role(evtowner, 'USAGE') AND pg_has_role(function.proowner, 'USAGE'))
ORDER BY 1
