-- As `./sluice grants shop` prints it: after tables were added to replication.yaml, print it again and run it again.
SET search_path = pg_catalog, pg_temp;

-- What a role needs, and no more; run it in the database itself, as who may grant these rights, and again after tables
-- were added. To make and empty tables, and to make triggers on them, it has to be a member of their owners: no smaller right
-- allows that.
-- A member can become the owner (SET ROLE), whatever it inherits of it. So nothing is granted if an owner is, or can
-- become, more than a role with rights on tables, unless the role is that much itself, or was made a member knowingly.
DO $grants$
DECLARE
    owner  text;
    inside text;
    more   record;
    may    boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'sluice') THEN
        RAISE EXCEPTION 'there is no role %', 'sluice'
        USING HINT = format('nothing was granted; make it first, with the password of the connection: CREATE ROLE %I LOGIN;'
            ' then, in psql, \password %I', 'sluice', 'sluice');
    END IF;
    FOR more IN
        SELECT owner.rolname AS owner, owned.tables, owned.moves, too_much.all_powers,
               pg_catalog.pg_has_role(ours.oid, owner.oid, 'MEMBER') AS is_member,
               CASE WHEN reached.oid = owner.oid THEN format('%I %s', owner.rolname, too_much.what)
                    ELSE format('%I is a member of %I, which %s', owner.rolname, reached.rolname, too_much.what)
               END AS why
        FROM pg_catalog.pg_roles AS ours
        CROSS JOIN (
            SELECT class.relowner, string_agg(class.oid::pg_catalog.regclass::text, ', ' ORDER BY class.oid) AS tables,
                   string_agg(DISTINCT format('GRANT USAGE, CREATE ON SCHEMA %I TO %I;',
                       namespace.nspname, 'sluice' || '_owner'), ' ')
                   || ' ' || string_agg(
                       format('ALTER TABLE %s OWNER TO %I;', class.oid::pg_catalog.regclass, 'sluice' || '_owner'), ' '
                       ORDER BY class.oid) AS moves
            FROM pg_catalog.pg_class AS class
            JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
            -- `to_regclass` fails in a schema of others.
            WHERE ARRAY[namespace.nspname, class.relname]::text[] IN (
                SELECT parse_ident(name) FROM unnest( E'{"\\"public\\".\\"customers\\"","\\"public\\".\\"orders\\""}'::text[]) AS name)
            GROUP BY class.relowner
        ) AS owned
        JOIN pg_catalog.pg_roles AS owner ON owner.oid = owned.relowner
        JOIN pg_catalog.pg_roles AS reached ON pg_catalog.pg_has_role(owner.oid, reached.oid, 'MEMBER')
        CROSS JOIN LATERAL (
            VALUES
                ('is a superuser', true, reached.rolsuper),
                ('reads or writes files of the server, or runs programs there', true, reached.rolname IN (
                    'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'
                )),
                ('has CREATEROLE', false, reached.rolcreaterole AND NOT ours.rolcreaterole),
                ('has BYPASSRLS', false, reached.rolbypassrls AND NOT ours.rolbypassrls),
                ('has REPLICATION', false, reached.rolreplication AND NOT ours.rolreplication)
        ) AS too_much (what, all_powers, so)
        WHERE ours.rolname = 'sluice' AND NOT ours.rolsuper AND owner.oid <> ours.oid AND too_much.so
        -- A superuser is a member of all others.
        ORDER BY too_much.all_powers DESC, owner.rolname, reached.oid <> owner.oid
    LOOP
        IF more.is_member AND NOT more.all_powers THEN
            RAISE WARNING 'the role % is a member of %, and %', quote_ident('sluice'), quote_ident(more.owner), more.why;
            CONTINUE;
        END IF;
        BEGIN
            may := NOT more.all_powers;
            IF may THEN
                EXECUTE format('GRANT %I TO %I', more.owner, 'sluice');
                RAISE EXCEPTION 'it can be granted';
            END IF;
        EXCEPTION
            WHEN raise_exception THEN NULL;
            WHEN OTHERS THEN may := false;
        END;
        RAISE EXCEPTION '% belongs to %, so the role % would have to become it; and %', more.tables,
            quote_ident(more.owner), quote_ident('sluice'), more.why
        USING HINT = 'nothing was granted. ' || CASE WHEN more.all_powers THEN '' ELSE format(
                'Simplest is a connection whose login is %1$I: the owner of the tables needs no rights on them. Or ', more.owner)
            END || CASE WHEN may THEN format(
                'make the role a member, with all that %1$I may do, and run the script again: GRANT %1$I TO %2$I; Or ',
                more.owner, 'sluice') ELSE '' END
            || format(
                'type this, which gives the tables to an ordinary role, of which %1$I stays a member, and '
                'run the script again: CREATE ROLE %2$I NOLOGIN; GRANT %2$I TO %1$I; %3$s', more.owner, 'sluice' || '_owner',
                more.moves)
            || CASE WHEN more.is_member THEN format(' REVOKE %I FROM %I;', more.owner, 'sluice') ELSE '' END;
    END LOOP;
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), 'sluice');
    FOREACH inside IN ARRAY '{repl}'::text[]
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = inside) THEN
            EXECUTE format('CREATE SCHEMA %I', inside);
            BEGIN
                EXECUTE format('ALTER SCHEMA %I OWNER TO %I', inside, 'sluice');
            EXCEPTION WHEN insufficient_privilege THEN
                -- Only a member may give things away. Two roles are never members of each other.
                may := EXISTS (SELECT FROM pg_catalog.pg_auth_members WHERE roleid = current_user::pg_catalog.regrole
                    AND member = quote_ident('sluice')::pg_catalog.regrole);
                IF may THEN
                    EXECUTE format('REVOKE %I FROM %I', current_user, 'sluice');
                END IF;
                EXECUTE format('GRANT %I TO %I', 'sluice', current_user);
                EXECUTE format('ALTER SCHEMA %I OWNER TO %I', inside, 'sluice');
                EXECUTE format('REVOKE %I FROM %I', 'sluice', current_user);
                IF may THEN
                    EXECUTE format('GRANT %I TO %I', current_user, 'sluice');
                END IF;
            END;
        END IF;
        -- Who runs this may grant nothing on a schema of others.
        IF NOT (pg_catalog.has_schema_privilege('sluice', inside, 'USAGE')
                AND pg_catalog.has_schema_privilege('sluice', inside, 'CREATE')) THEN
            EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', inside, 'sluice');
        END IF;
    END LOOP;
    FOR inside, owner IN
        SELECT DISTINCT namespace.nspname, pg_catalog.pg_get_userbyid(class.relowner)
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
        WHERE ARRAY[namespace.nspname, class.relname]::text[] IN (
            SELECT parse_ident(name) FROM unnest( E'{"\\"public\\".\\"customers\\"","\\"public\\".\\"orders\\""}'::text[]) AS name)
    LOOP
        IF NOT pg_catalog.has_schema_privilege('sluice', inside, 'USAGE') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', inside, 'sluice');
        END IF;
        IF NOT pg_catalog.pg_has_role('sluice', owner, 'USAGE') THEN
            EXECUTE format('GRANT %I TO %I', owner, 'sluice');
        END IF;
    END LOOP;
END
$grants$
;

RESET search_path;
