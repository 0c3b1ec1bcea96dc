-- Whether a transaction with changes waits, of those that were committed before a place of the log, or at all.
SELECT EXISTS (
    SELECT FROM pg_logical_slot_peek_binary_changes(
        {slot}::name, '0/0'::pg_lsn + {until}::numeric, 1, 'proto_version', '1', 'publication_names', {publications}))
