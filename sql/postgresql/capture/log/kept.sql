-- What of the server's log is kept for a slot, and how much more may be written before the server gives it up.
SELECT
    greatest(coalesce(pg_current_wal_lsn() - restart_lsn, 0), 0)::bigint,
    coalesce(wal_status, 'reserved'),
    safe_wal_size
FROM pg_replication_slots
WHERE slot_name = {slot}::name
