-- The slot of a name, and up to where it was read; how much of the server's log is kept for it; whose session reads it.
SELECT
    slot.plugin, slot.database = current_database(), coalesce(slot.wal_status, 'reserved'),
    slot.confirmed_flush_lsn - '0/0'::pg_lsn, nullif(slot.active_pid, pg_backend_pid()),
    coalesce(reader.usename::text, ''), coalesce(reader.application_name, '')
FROM pg_replication_slots AS slot
LEFT JOIN pg_stat_activity AS reader ON reader.pid = slot.active_pid
WHERE slot.slot_name = {slot}::name
