-- The slot of a name, and up to where it was read; how much of the server's log is kept for it.
SELECT
    plugin, database = current_database(), active_pid, coalesce(wal_status, 'reserved'), confirmed_flush_lsn - '0/0'::pg_lsn
FROM pg_replication_slots
WHERE slot_name = {slot}::name
