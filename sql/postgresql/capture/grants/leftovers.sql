-- What the role of this session has by the scripts of this folder, and what is left of ours beside that, each with the statement
-- that ends it, in an order in which they can be run. It asks the catalog alone: what is not there is not listed. A superuser
-- needs no script, and nothing of it is listed.
WITH RECURSIVE ours AS (
    SELECT oid, rolname, rolreplication FROM pg_catalog.pg_roles WHERE rolname = current_user AND NOT rolsuper
), known AS (
    SELECT class.relowner, class.relnamespace
    FROM pg_catalog.pg_class AS class
    WHERE class.oid IN (SELECT to_regclass(name) FROM unnest(%(tables)s::text[]) AS name)
), home AS (
    -- The schema that we keep things in, if it is the role's own and nothing is in it.
    SELECT namespace.oid, namespace.nspname
    FROM pg_catalog.pg_namespace AS namespace JOIN ours ON namespace.nspowner = ours.oid
    WHERE namespace.nspname = %(schema)s::text AND namespace.nspname <> 'public' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend
        WHERE refobjid = namespace.oid AND refclassid = 'pg_catalog.pg_namespace'::regclass
    )
), made AS (
    -- Types in the schemas of replicated tables that belong to the role.
    SELECT type.oid, type.typarray, type.typrelid, format('%%I.%%I', namespace.nspname, type.typname) AS name
    FROM pg_catalog.pg_type AS type
    JOIN ours ON type.typowner = ours.oid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = type.typnamespace
    LEFT JOIN pg_catalog.pg_class AS class ON class.oid = type.typrelid
    WHERE %(filled)s::bool AND namespace.nspname = ANY (%(schemas)s::text[])
      AND (type.typtype IN ('e', 'd', 'r') OR (type.typtype = 'c' AND class.relkind = 'c'))
), uses AS (
    -- A type that needs one of these has its own id; all else that does is no type.
    SELECT made.oid AS used, CASE
        WHEN depend.classid = 'pg_catalog.pg_type'::regclass THEN depend.objid
        WHEN depend.classid = 'pg_catalog.pg_class'::regclass THEN (
            SELECT class.reltype FROM pg_catalog.pg_class AS class WHERE class.oid = depend.objid AND class.relkind = 'c'
        )
    END AS by
    FROM made
    JOIN pg_catalog.pg_depend AS depend ON depend.deptype = 'n' AND (
        (depend.refclassid = 'pg_catalog.pg_type'::regclass AND depend.refobjid IN (made.oid, made.typarray))
        OR (depend.refclassid = 'pg_catalog.pg_class'::regclass AND depend.refobjid = made.typrelid AND made.typrelid <> 0)
    )
), needed AS (
    SELECT used FROM uses WHERE by IS NULL OR by NOT IN (SELECT oid FROM made)
    UNION
    SELECT uses.used FROM uses JOIN needed ON uses.by = needed.used
), found (place, what, statement) AS (
    SELECT 1, 'types of the role that nothing uses',
           format('DROP TYPE %%s', string_agg(made.name, ', ' ORDER BY made.oid))
    FROM made
    WHERE made.oid NOT IN (SELECT used FROM needed)
    HAVING count(*) > 0
    UNION ALL
    SELECT 2, 'its schema, which is empty', format('DROP SCHEMA %%I', home.nspname) FROM home
    UNION ALL
    SELECT 3, 'rights on a schema', format('REVOKE %%s ON SCHEMA %%I FROM %%I',
           string_agg(given.privilege_type, ', ' ORDER BY given.privilege_type), namespace.nspname, ours.rolname)
    FROM ours
    CROSS JOIN pg_catalog.pg_namespace AS namespace
    CROSS JOIN LATERAL aclexplode(namespace.nspacl) AS given
    WHERE given.grantee = ours.oid AND namespace.nspowner <> ours.oid AND namespace.oid NOT IN (SELECT oid FROM home)
      AND (namespace.nspname = ANY (%(schemas)s::text[] || %(schema)s::text)
           OR namespace.oid IN (SELECT relnamespace FROM known))
    GROUP BY namespace.nspname, ours.rolname
    UNION ALL
    SELECT 4, 'rights on the database', format('REVOKE %%s ON DATABASE %%I FROM %%I',
           string_agg(given.privilege_type, ', ' ORDER BY given.privilege_type), database.datname, ours.rolname)
    FROM ours
    CROSS JOIN pg_catalog.pg_database AS database
    CROSS JOIN LATERAL aclexplode(database.datacl) AS given
    WHERE given.grantee = ours.oid AND database.datdba <> ours.oid AND database.datname = current_database()
    GROUP BY database.datname, ours.rolname
    UNION ALL
    SELECT 5, 'letting decoding begin at a later place', format('REVOKE EXECUTE ON FUNCTION %%s FROM %%I',
           'pg_catalog.pg_log_standby_snapshot()', ours.rolname)
    FROM ours
    JOIN pg_catalog.pg_proc AS function ON function.oid = to_regprocedure('pg_catalog.pg_log_standby_snapshot()')
    CROSS JOIN LATERAL aclexplode(function.proacl) AS given
    WHERE given.grantee = ours.oid AND function.proowner <> ours.oid
    UNION ALL
    -- Whether a membership in a role that owns none of the tables, or none any more, is of our script cannot be known.
    SELECT DISTINCT 6, CASE
               WHEN owner.rolname = 'pg_read_all_stats' THEN 'seeing sessions of others'
               WHEN owner.oid IN (SELECT relowner FROM known) THEN 'being a member of an owner of replicated tables'
               ELSE format('if it was for tables that are gone: REVOKE %%I FROM %%I', owner.rolname, ours.rolname)
           END,
           CASE WHEN owner.rolname = 'pg_read_all_stats' OR owner.oid IN (SELECT relowner FROM known)
               THEN format('REVOKE %%I FROM %%I', owner.rolname, ours.rolname)
               ELSE ''
           END
    FROM ours
    JOIN pg_catalog.pg_auth_members AS given ON given.member = ours.oid
    JOIN pg_catalog.pg_roles AS owner ON owner.oid = given.roleid AND owner.rolname <> 'rds_replication'
    UNION ALL
    SELECT 7, 'reading the server''s log', format(given.ending, ours.rolname)
    FROM ours
    CROSS JOIN LATERAL (
        SELECT 'ALTER ROLE %%I NOREPLICATION' WHERE ours.rolreplication
        UNION ALL
        SELECT 'REVOKE rds_replication FROM %%I'
        FROM pg_catalog.pg_auth_members WHERE member = ours.oid AND roleid = to_regrole('rds_replication')
    ) AS given (ending)
    WHERE NOT %(filled)s::bool
    UNION ALL
    -- The role of `keeper`: it has the rights of ours. It goes if no other database has functions of it.
    SELECT 8, CASE WHEN elsewhere.names IS NULL THEN 'the role of the event triggers'' functions'
               ELSE format('the role %%I owns things in other databases, too: %%s', keeper.rolname, elsewhere.names) END,
           CASE WHEN elsewhere.names IS NULL THEN format('DROP ROLE %%I', keeper.rolname) ELSE '' END
    FROM ours
    JOIN pg_catalog.pg_auth_members AS given ON given.roleid = ours.oid
    JOIN pg_catalog.pg_roles AS keeper ON keeper.oid = given.member AND NOT keeper.rolcanlogin
    CROSS JOIN LATERAL (
        SELECT string_agg(DISTINCT database.datname::text, ', ') AS names
        FROM pg_catalog.pg_shdepend AS depend JOIN pg_catalog.pg_database AS database ON database.oid = depend.dbid
        WHERE depend.refclassid = 'pg_catalog.pg_authid'::regclass AND depend.refobjid = keeper.oid
          AND database.datname <> current_database()
    ) AS elsewhere
    WHERE NOT %(filled)s::bool AND keeper.rolname = %(keeper)s::text
)
SELECT what, statement FROM found ORDER BY place, statement
