-- Whole transactions in the order of their commits, at least so many messages, if there are. Only what is flushed is read, which
-- no crash takes back (R2). The messages are those of our own flushes: they let an idle source move on.
-- Of a change one of whose rows is too long to be published comes its kind and its table alone, unless the table is ours.
COPY (
    SELECT lsn, CASE WHEN octet_length(data) > {longest} AND get_byte(data, 0) = ANY ({changes}::integer[])
                          AND substr(data, 2, 4) <> ALL ({ours}::bytea[])
                THEN substr(data, 1, 5) ELSE data END
    FROM pg_logical_slot_peek_binary_changes(
        {slot}::name, NULL::pg_lsn, {most}::integer, 'proto_version', '1', 'publication_names', {publications}, 'messages', 'true')
) TO STDOUT (FORMAT binary)
