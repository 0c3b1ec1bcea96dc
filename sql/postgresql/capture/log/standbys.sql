-- Whether standbys may copy the slot; whether decoding waits for any standby; and the slots that standbys read the server's log by.
SELECT
    to_jsonb(slot) ->> 'failover' = 'true',
    coalesce(current_setting('synchronized_standby_slots', true), '') <> '',
    ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT temporary ORDER BY slot_name)
FROM pg_replication_slots AS slot
WHERE slot.slot_name = {slot}::name
