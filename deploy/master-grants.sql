-- As `./sluice grants shop` prints it: after tables were added to replication.yaml, print it again and run it again.
SET search_path = pg_catalog, pg_temp;

-- What a role needs, and no more; run it as a superuser, in the database itself, and again after tables were added. To
-- make and empty tables, and to make triggers on them, it has to be a member of their owners: no smaller right allows that.
-- A member can become the owner (SET ROLE), whatever it inherits of it. So nothing is granted if an owner is, or can
-- become, more than a role with rights on tables, unless the role is that much itself.
DO $grants$
DECLARE
    owner  text;
    inside text;
    more   record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'sluice') THEN
        RAISE EXCEPTION 'there is no role %', 'sluice'
        USING HINT = format('nothing was granted; make it first, with the password of the connection: CREATE ROLE %I LOGIN;'
            ' then, in psql, \password %I', 'sluice', 'sluice');
    END IF;
    SELECT owner.rolname AS owner, reached.rolname AS reached, too_much.what, owned.tables, owned.moves
    INTO more
    FROM pg_catalog.pg_roles AS ours
    CROSS JOIN (
        SELECT class.relowner, string_agg(class.oid::pg_catalog.regclass::text, ', ' ORDER BY class.oid) AS tables,
               string_agg(
                   format('ALTER TABLE %s OWNER TO %I;', class.oid::pg_catalog.regclass, 'sluice' || '_owner'), ' '
                   ORDER BY class.oid) AS moves
        FROM pg_catalog.pg_class AS class
        WHERE class.oid IN (SELECT to_regclass(name) FROM unnest( E'{"\\"public\\".\\"customers\\"","\\"public\\".\\"orders\\""}'::text[]) AS name)
        GROUP BY class.relowner
    ) AS owned
    JOIN pg_catalog.pg_roles AS owner ON owner.oid = owned.relowner
    JOIN pg_catalog.pg_roles AS reached ON pg_catalog.pg_has_role(owner.oid, reached.oid, 'MEMBER')
    CROSS JOIN LATERAL (
        VALUES
            ('is a superuser', reached.rolsuper),
            ('has CREATEROLE', reached.rolcreaterole AND NOT ours.rolcreaterole),
            ('has BYPASSRLS', reached.rolbypassrls AND NOT ours.rolbypassrls),
            ('has REPLICATION', reached.rolreplication AND NOT ours.rolreplication),
            ('reads or writes files of the server, or runs programs there', reached.rolname IN (
                'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'
            ))
    ) AS too_much (what, so)
    WHERE ours.rolname = 'sluice' AND NOT ours.rolsuper AND owner.oid <> ours.oid AND too_much.so
    -- A superuser is a member of all others.
    ORDER BY owner.rolname, reached.oid <> owner.oid
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% belongs to %, so the role % would have to become it; and %', more.tables,
            quote_ident(more.owner), quote_ident('sluice'), CASE
                WHEN more.reached = more.owner THEN format('%I %s', more.owner, more.what)
                ELSE format('%I is a member of %I, which %s', more.owner, more.reached, more.what)
            END
        USING HINT = format(
            'nothing was granted. Type this, which gives the tables to an ordinary role, of which %1$I stays a member, and '
            'run the script again: CREATE ROLE %2$I NOLOGIN; GRANT %2$I TO %1$I; %4$s REVOKE %1$I FROM %3$I;',
            more.owner, 'sluice' || '_owner', 'sluice', more.moves
        );
    END IF;
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), 'sluice');
    FOREACH inside IN ARRAY '{repl}'::text[]
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = inside) THEN
            EXECUTE format('CREATE SCHEMA %I AUTHORIZATION %I', inside, 'sluice');
        END IF;
        EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', inside, 'sluice');
    END LOOP;
    FOR inside, owner IN
        SELECT DISTINCT namespace.nspname, pg_catalog.pg_get_userbyid(class.relowner)
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
        WHERE class.oid IN (SELECT to_regclass(name) FROM unnest( E'{"\\"public\\".\\"customers\\"","\\"public\\".\\"orders\\""}'::text[]) AS name)
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', inside, 'sluice');
        IF NOT pg_catalog.pg_has_role('sluice', owner, 'USAGE') THEN
            EXECUTE format('GRANT %I TO %I', owner, 'sluice');
        END IF;
    END LOOP;
END
$grants$
;

RESET search_path;
