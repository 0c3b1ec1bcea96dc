-- What the server's own superuser made in a database of the embedded runtime belongs to the database's role from now on,
-- which was a superuser before, and needed to own nothing.
DO $hand_over$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT CASE class.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END AS kind,
               class.oid::pg_catalog.regclass::text AS name
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
        WHERE class.relkind IN ('r', 'p', 'v', 'm') AND class.relpersistence <> 't'
          AND class.relowner = current_user::pg_catalog.regrole
          AND namespace.nspname !~ '^pg_' AND namespace.nspname <> 'information_schema'
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend WHERE objid = class.oid AND deptype = 'e')
        UNION ALL
        SELECT 'SCHEMA', quote_ident(nspname)
        FROM pg_catalog.pg_namespace
        WHERE nspowner = current_user::pg_catalog.regrole AND nspname !~ '^pg_' AND nspname <> 'information_schema'
    LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I', made.kind, made.name, {role_name});
    END LOOP;
END
$hand_over$
