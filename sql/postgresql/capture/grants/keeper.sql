-- The role that owns the functions of event triggers. It has what the role has that captures, and no more; and that role may
-- not change these functions, for they run whenever somebody else alters a table. One that is there already could be
-- somebody's: it is taken only if nobody can become it but superusers, whoever runs this, and those whose event triggers run here
-- for everybody anyway, and it has no rights but these.
DO $keeper$
DECLARE
    odd text;
BEGIN
    SELECT string_agg(found.what, ', ') INTO odd
    FROM pg_catalog.pg_roles AS keeper
    CROSS JOIN LATERAL (
        SELECT 'it is more than a role without a login'
        WHERE keeper.rolcanlogin OR keeper.rolsuper OR keeper.rolcreaterole OR keeper.rolcreatedb OR keeper.rolreplication
           OR keeper.rolbypassrls
        UNION ALL
        SELECT format('%I is a member of it', other.rolname)
        FROM pg_catalog.pg_auth_members AS made JOIN pg_catalog.pg_roles AS other ON other.oid = made.member
        WHERE made.roleid = keeper.oid AND (other.rolname <> current_user OR other.rolname = {role_name})
          AND other.oid NOT IN (SELECT evtowner FROM pg_catalog.pg_event_trigger) AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_roles AS super
            WHERE super.rolsuper AND pg_catalog.pg_has_role(other.oid, super.oid, 'MEMBER'))
        UNION ALL
        SELECT format('it is a member of %I', other.rolname)
        FROM pg_catalog.pg_auth_members AS made JOIN pg_catalog.pg_roles AS other ON other.oid = made.roleid
        WHERE made.member = keeper.oid AND other.rolname <> {role_name}
    ) AS found (what)
    WHERE keeper.rolname = {keeper_name};
    IF odd IS NOT NULL THEN
        RAISE EXCEPTION 'the role % is there, and %', quote_ident({keeper_name}), odd
        USING HINT = 'no event trigger was made. If the role is Sluice''s, end that by REVOKE or ALTER ROLE, or run the '
            'script as its only member; if it is somebody''s, give it another name.';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {keeper_name}) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', {keeper_name});
    END IF;
    IF NOT pg_catalog.pg_has_role({keeper_name}, {role_name}, 'USAGE') THEN
        EXECUTE format('GRANT %I TO %I', {role_name}, {keeper_name});
    END IF;
END
$keeper$
