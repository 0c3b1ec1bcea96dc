-- Reading the server's log by a slot, and saying of which tables. REPLICATION is a right on the whole server: where pg_hba.conf lets
-- the role replicate, it can copy all databases.
DO $log$
BEGIN
    EXECUTE format('ALTER ROLE %I REPLICATION', {role_name});
    EXECUTE format('GRANT CREATE ON DATABASE %I TO %I', current_database(), {role_name});
    -- From PostgreSQL 16 on: to let decoding begin at a later place of the log.
    IF to_regprocedure('pg_catalog.pg_log_standby_snapshot()') IS NOT NULL THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO %I', {role_name});
    END IF;
END
$log$
