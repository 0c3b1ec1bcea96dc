-- The transactions that the slot still has.
SELECT DISTINCT found.xid::text
FROM pg_logical_slot_peek_changes({slot}::name, NULL, NULL{options}) AS found (place, xid, data)
