-- The role that owns the functions of event triggers. It has what the role has that captures, and no more; and that role may
-- not change these functions, for they run whenever somebody else alters a table.
DO $keeper$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {keeper_name}) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', {keeper_name});
    END IF;
    EXECUTE format('GRANT %I TO %I', {role_name}, {keeper_name});
END
$keeper$
