-- How many of these transactions the slot still has.
SELECT count(DISTINCT xid::text)
FROM pg_logical_slot_peek_binary_changes(
    {slot}::name, NULL::pg_lsn, NULL::integer, 'proto_version', '1', 'publication_names', {publications})
WHERE xid::text = ANY ({transactions}::text[])
