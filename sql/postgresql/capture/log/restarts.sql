-- Where decoding begins each time, and how much of the log it reads so.
SELECT
    restart_lsn - '0/0'::pg_lsn,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END - restart_lsn
FROM pg_replication_slots
WHERE slot_name = {slot}::name AND restart_lsn IS NOT NULL
