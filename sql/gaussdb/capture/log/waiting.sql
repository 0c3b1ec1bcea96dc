-- How many changes wait in the slot, and how many statements, which are also BEGIN and COMMIT; counted up to about so many.
SELECT
    coalesce(sum(CASE WHEN found.data::text LIKE 'BEGIN%' OR upper(left(found.data::text, 6)) = 'COMMIT' THEN 0 ELSE 1 END), 0),
    count(*)
FROM pg_logical_slot_peek_changes({slot}::name, NULL, {most}::integer{options}) AS found (place, xid, data)
