-- Reading the server's log by a slot. REPLICATION is a right on the whole server: where pg_hba.conf lets the role replicate, it
-- can copy all databases. Amazon gives it by membership in a role.
DO $log$
DECLARE
    provided oid := to_regrole('rds_replication');
BEGIN
    IF NOT (SELECT rolreplication FROM pg_catalog.pg_roles WHERE rolname = {role_name})
       AND NOT coalesce(pg_catalog.pg_has_role({role_name}, provided, 'MEMBER'), false) THEN
        BEGIN
            EXECUTE format('ALTER ROLE %I REPLICATION', {role_name});
        EXCEPTION WHEN insufficient_privilege THEN
            IF provided IS NULL THEN
                RAISE;
            END IF;
            EXECUTE format('GRANT rds_replication TO %I', {role_name});
        END;
    END IF;
END
$log$
