-- Tables, views and types of these names that belong to others, with the statement that gives each to us. Not those of a member
-- of our role, as every superuser is, nor of the database's owner.
SELECT namespace.nspname, found.name,
       format('%%s of %%I', found.what, pg_get_userbyid(found.owner)),
       format('ALTER %%s %%I.%%I OWNER TO %%I', found.kind, namespace.nspname, found.name, current_user)
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_database AS here ON here.datname = current_database()
CROSS JOIN LATERAL (
    SELECT relname, relowner, class.oid::regclass::text, 'TABLE'
    FROM pg_class AS class
    WHERE class.relnamespace = namespace.oid AND class.relname = wanted.relname AND class.relkind NOT IN ('c', 'i', 'I')
    UNION ALL
    SELECT typname, typowner, format('the type %%s', type.oid::regtype), 'TYPE'
    FROM pg_type AS type
    LEFT JOIN pg_class AS class ON class.oid = typrelid
    WHERE typnamespace = namespace.oid AND typname = wanted.relname AND (typrelid = 0 OR class.relkind = 'c')
) AS found (name, owner, what, kind)
WHERE NOT pg_has_role(found.owner, current_user, 'MEMBER') AND NOT pg_has_role(found.owner, here.datdba, 'MEMBER')
ORDER BY 1, 2
