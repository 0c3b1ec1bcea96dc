-- Watched tables whose trigger functions count on an event trigger that sees each new column, or what becomes of those
-- of the key, where there is none (R7).
SELECT entry.relid, entry.debug
FROM {tables} AS entry
JOIN pg_proc AS made ON made.proname = {capture_name} || entry.relid
JOIN pg_namespace AS namespace ON namespace.oid = made.pronamespace AND namespace.nspname = {schema_name}
WHERE (NOT EXISTS (SELECT FROM unnest(made.proconfig) AS setting WHERE starts_with(setting, 'search_path='))
       OR strpos(made.prosrc, 'CASE WHEN rekeyed') > 0)
  AND NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtfoid = to_regprocedure({altered_name}) AND evtenabled <> 'D')
