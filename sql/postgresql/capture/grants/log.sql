-- Reading the server's log by a slot. REPLICATION is a right on the whole server: where pg_hba.conf lets the role replicate, it
-- can copy all databases.
DO $log$
BEGIN
    IF NOT (SELECT rolreplication FROM pg_catalog.pg_roles WHERE rolname = {role_name}) THEN
        EXECUTE format('ALTER ROLE %I REPLICATION', {role_name});
    END IF;
END
$log$
