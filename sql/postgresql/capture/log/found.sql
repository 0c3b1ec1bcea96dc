-- How many of these transactions the slot still has, with a change at that place of the log where one is known. A server that was
-- set back gives out their ids again, and writes its log anew.
SELECT count(DISTINCT change.xid::text)
FROM pg_logical_slot_peek_binary_changes(
    {slot}::name, NULL::pg_lsn, NULL::integer, 'proto_version', '1', 'publication_names', {publications}) AS change
JOIN unnest({transactions}::text[], {places}::bigint[]) AS listed (xid, place) ON listed.xid = change.xid::text
WHERE listed.place IS NULL OR change.lsn = '0/0'::pg_lsn + listed.place::numeric
