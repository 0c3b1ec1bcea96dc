-- All columns: what they are called where the slot was read up to depends on the version.
SELECT * FROM pg_replication_slots WHERE slot_name::text = {slot}::text
