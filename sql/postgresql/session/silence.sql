-- Keeps triggers, rules and foreign keys from acting in this session, if its role may. If not, that is no error in the server's log.
DO $silence$
BEGIN
    PERFORM pg_catalog.set_config('session_replication_role', 'replica', false);
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END
$silence$
