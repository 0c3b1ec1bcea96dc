-- The part of the server's log that is kept for a slot, with what is not yet written to disk, and how much more may be written
-- before the server gives it up.
SELECT
    greatest(coalesce(pg_current_wal_insert_lsn() - restart_lsn, 0), 0)::bigint,
    coalesce(wal_status, 'reserved'),
    safe_wal_size
FROM pg_replication_slots
WHERE slot_name = {slot}::name
