-- Event triggers, for whoever may make them. Only a member of a role may make things that belong to it: whoever runs this is one
-- for as long as that takes.
DO $events$
DECLARE
    before  text := current_setting('role');
    joins   boolean;
    circle  boolean := EXISTS (SELECT FROM pg_catalog.pg_auth_members WHERE roleid = quote_ident(current_user)::pg_catalog.regrole
        AND member = quote_ident({role_name})::pg_catalog.regrole);
    strange text;
BEGIN
    -- Refused before anything is made, by who may not.
    BEGIN
        CREATE EVENT TRIGGER {event_trigger} ON ddl_command_start EXECUTE FUNCTION pg_catalog.version();
    EXCEPTION WHEN invalid_object_definition OR undefined_function OR duplicate_object THEN
        NULL;
    END;
    {keeper};
    joins := NOT pg_catalog.pg_has_role(current_user, {keeper_name}, 'USAGE');
    IF joins THEN
        -- Roles are never members of each other, not by a third one, either.
        IF circle THEN
            EXECUTE format('REVOKE %I FROM %I', current_user, {role_name});
        END IF;
        BEGIN
            EXECUTE format('GRANT %I TO %I', {keeper_name}, current_user);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE insufficient_privilege USING MESSAGE = format('only %s may make them for the role %I, and runs the script',
                (SELECT string_agg(quote_ident(pg_catalog.pg_get_userbyid(member)), ', ') FROM pg_catalog.pg_auth_members
                 WHERE roleid = quote_ident({keeper_name})::pg_catalog.regrole AND admin_option), {keeper_name});
        END;
    END IF;
    FOR strange IN
        SELECT made.oid::pg_catalog.regprocedure::text
        FROM pg_catalog.pg_proc AS made
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = made.pronamespace
        WHERE namespace.nspname = {schema_name} AND made.proname = ANY ({functions}::text[]) AND made.pronargs = 0
          AND pg_catalog.pg_get_userbyid(made.proowner) <> {keeper_name}
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO %I', strange, {keeper_name});
    END LOOP;
    PERFORM set_config('role', {keeper_name}, true);
    {making};
    PERFORM set_config('role', before, true);
    {firing};
    IF joins THEN
        EXECUTE format('REVOKE %I FROM %I', {keeper_name}, current_user);
        IF circle THEN
            EXECUTE format('GRANT %I TO %I', current_user, {role_name});
        END IF;
    END IF;
EXCEPTION WHEN insufficient_privilege OR invalid_grant_operation THEN
    RAISE WARNING 'no event triggers were made: %', SQLERRM
    USING HINT = 'all else was granted, and those that are there stay. Without them DDL is found at the publisher''s next look; with '
        '`capture: log` they are needed.';
END
$events$
