-- Whole transactions in the order of their commits, at least so many messages, if there are. Only what is flushed is read, which
-- no crash takes back (R2). The messages are those of our own flushes: they let an idle source move on.
COPY (
    SELECT lsn, data
    FROM pg_logical_slot_peek_binary_changes(
        {slot}::name, NULL::pg_lsn, {most}::integer, 'proto_version', '1', 'publication_names', {publications}, 'messages', 'true')
) TO STDOUT (FORMAT binary)
