-- Whether a transaction with changes waits.
SELECT EXISTS (
    SELECT FROM pg_logical_slot_peek_binary_changes(
        {slot}::name, NULL::pg_lsn, 1, 'proto_version', '1', 'publication_names', {publications}))
