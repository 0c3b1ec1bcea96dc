-- Watched tables that do not fire, or not for all sessions: a trigger was dropped, renamed or disabled, be it on a single
-- partition (R9).
CREATE OR REPLACE FUNCTION {silenced}() RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $silenced$
    SELECT entry.relid
    FROM {tables} AS entry
    JOIN pg_class AS class ON class.oid = entry.relid
    CROSS JOIN LATERAL (SELECT rtrim(coalesce(entry.actions, 'IUD')) AS actions) AS wanted
    WHERE wanted.actions <> ''
      AND (
        NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = entry.relid AND tgname = entry.trigger_name)
        OR wanted.actions LIKE '%D%' AND NOT EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = entry.relid AND tgname = entry.trigger_name || '_t')
        OR EXISTS (
            SELECT FROM pg_trigger
            WHERE tgenabled <> 'A'
              AND tgrelid IN (SELECT {tree}(entry.relid))
              AND tgname IN (entry.trigger_name, entry.trigger_name || '_t', entry.trigger_name || '_c')))
$silenced$
