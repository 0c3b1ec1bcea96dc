-- The transactions with statements that the slot still has; those of none are of tables that nobody watches, or empty.
SELECT DISTINCT found.xid::text
FROM pg_logical_slot_peek_changes({slot}::name, NULL, NULL) AS found (place, xid, data)
WHERE found.data::text NOT LIKE 'BEGIN%' AND upper(left(found.data::text, 6)) <> 'COMMIT'
