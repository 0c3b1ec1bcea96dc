-- What the role of a source needs, and no more; run it as a superuser, in the database itself. Membership in the owners
-- of the watched tables is for CREATE TRIGGER, ENABLE ALWAYS and LOCK, which no smaller right allows; and for SELECT.
DO $grants$
DECLARE
    owner  text;
    inside text;
BEGIN
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), {role_name});
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', {schema_name}, {role_name});
    FOR inside IN
        SELECT DISTINCT namespace.nspname
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
        WHERE class.oid = ANY ({tables}::pg_catalog.regclass[])
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', inside, {role_name});
    END LOOP;
    FOR owner IN
        SELECT DISTINCT pg_catalog.pg_get_userbyid(class.relowner)
        FROM pg_catalog.pg_class AS class
        WHERE class.oid = ANY ({tables}::pg_catalog.regclass[])
    LOOP
        IF owner <> {role_name} THEN
            EXECUTE format('GRANT %I TO %I', owner, {role_name});
        END IF;
    END LOOP;
END
$grants$
