-- What the server and the role allow: whether the log has rows, how many slots there may be, and how many there are; and
-- the memory of the server in KB, of which parallel decoding may have a part, if it has that setting.
SELECT
    current_setting('wal_level'),
    current_setting('max_replication_slots')::integer,
    (SELECT count(*) FROM pg_replication_slots),
    (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user),
    pg_is_in_recovery(),
    (SELECT setting::bigint FROM pg_settings WHERE name = 'max_process_memory')
