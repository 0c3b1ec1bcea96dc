-- Whether a slot can be read: one that is still being made knows no place.
SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = {slot}::name AND confirmed_flush_lsn IS NOT NULL)
