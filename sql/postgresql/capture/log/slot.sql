-- The slot of a name, and up to where it was read; how much of the server's log is kept for it; the standbys that decoding waits for
-- (from PostgreSQL 17 on), and that are away and not as far as the server's log; why the server has
-- ended it (from 16 on); whose session reads it.
SELECT
    slot.plugin, slot.database = current_database(), coalesce(slot.wal_status, 'reserved'),
    slot.confirmed_flush_lsn - '0/0'::pg_lsn,
    ARRAY(
        SELECT named.name
        FROM regexp_split_to_table(nullif(current_setting('synchronized_standby_slots', true), ''), '\s*,\s*') AS named (name)
        WHERE to_jsonb(slot) ->> 'failover' = 'true' AND NOT EXISTS (
            SELECT FROM pg_replication_slots AS standby
            WHERE standby.slot_name = trim(named.name, ' "') AND standby.slot_type = 'physical'
              AND (standby.active OR standby.restart_lsn >= CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END))
    ),
    coalesce(to_jsonb(slot) ->> 'invalidation_reason', CASE WHEN to_jsonb(slot) ->> 'conflicting' = 'true' THEN 'conflicting' END),
    nullif(slot.active_pid, pg_backend_pid()),
    coalesce(reader.usename::text, ''), coalesce(reader.application_name, '')
FROM pg_replication_slots AS slot
LEFT JOIN pg_stat_activity AS reader ON reader.pid = slot.active_pid
WHERE slot.slot_name = {slot}::name
