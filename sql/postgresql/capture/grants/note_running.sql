-- From PostgreSQL 16 on: to let decoding begin at a later place of the log.
DO $note_running$
BEGIN
    IF to_regprocedure('pg_catalog.pg_log_standby_snapshot()') IS NOT NULL THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO %I', {role_name});
    END IF;
END
$note_running$
