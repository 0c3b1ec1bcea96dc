-- Once a statement: a purge pays for the condition, and a change that is captured for nothing (R9).
DO $guard$
BEGIN
    CREATE OR REPLACE TRIGGER sluice_guard BEFORE DELETE OR TRUNCATE ON {queue} FOR EACH STATEMENT
    WHEN (pg_catalog.current_setting('sluice.purge', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION {guard}();
    ALTER TABLE {queue} ENABLE ALWAYS TRIGGER sluice_guard;
END
$guard$
