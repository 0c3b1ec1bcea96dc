-- What the server allows: whether its log has rows, how many slots are free, and which version it is; and what the role may, as far
-- as the catalog says it.
SELECT
    current_setting('wal_level'),
    current_setting('max_replication_slots')::integer - (SELECT count(*) FROM pg_replication_slots),
    current_setting('server_version_num')::integer,
    (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user),
    has_database_privilege(current_database(), 'CREATE')
