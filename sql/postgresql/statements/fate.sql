-- The commit is asked for after the transaction is known, so one that nobody knows is open, or rolled back. A number that
-- the server has forgotten, or never gave out, is no question that it can answer.
SELECT CASE
    WHEN %(trans_key)s::text IS NULL AND EXISTS (
        SELECT FROM pg_catalog.pg_stat_activity
        WHERE datname = pg_catalog.current_database() AND application_name = %(session)s AND usename = current_user
    ) THEN 'in progress'
    WHEN %(trans_key)s::text IS NULL THEN 'aborted'
    WHEN %(trans_key)s::text::xid8 < pg_catalog.pg_current_xact_id()
    THEN pg_catalog.pg_xact_status(%(trans_key)s::text::xid8)
END
