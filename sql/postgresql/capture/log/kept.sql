-- The part of the server's log that is kept for a slot, with what is not yet written to disk (of a standby: not yet replayed), and
-- how much more may be written before the server gives it up.
SELECT
    greatest(coalesce(
        CASE WHEN pg_is_in_recovery() THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
             ELSE pg_current_wal_insert_lsn() END - restart_lsn, 0), 0)::bigint,
    coalesce(wal_status, 'reserved'),
    safe_wal_size
FROM pg_replication_slots
WHERE slot_name = {slot}::name
