-- Where decoding begins each time, how much of the log it reads so, and whether we may let the server note a later beginning
-- (from PostgreSQL 16 on).
SELECT
    restart_lsn - '0/0'::pg_lsn,
    pg_current_wal_flush_lsn() - restart_lsn,
    coalesce(has_function_privilege(to_regprocedure('pg_catalog.pg_log_standby_snapshot()'), 'EXECUTE'), false)
FROM pg_replication_slots
WHERE slot_name = {slot}::name AND restart_lsn IS NOT NULL
