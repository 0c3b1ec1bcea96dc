-- How many changes of rows wait in the slot, counted up to about so many.
SELECT count(*)
FROM pg_logical_slot_peek_binary_changes(
    {slot}::name, NULL::pg_lsn, {most}::integer, 'proto_version', '1', 'publication_names', {publications})
WHERE get_byte(data, 0) IN (ascii('I'), ascii('U'), ascii('D'))
