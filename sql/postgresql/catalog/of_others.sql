-- Tables, views and types of these names that belong to others, and such partitions of the tables, with the statement that gives
-- each to us. Not those of a member of our role, as every superuser is.
SELECT namespace.nspname, wanted.relname,
       format('%%s of %%I', found.what, pg_get_userbyid(found.owner)),
       format('ALTER %%s %%s OWNER TO %%I', found.kind, found.name, current_user)
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
CROSS JOIN LATERAL (
    SELECT class.oid::regclass::text, class.relowner, class.oid::regclass::text, 'TABLE'
    FROM pg_class AS named
    CROSS JOIN LATERAL (SELECT named.oid AS relid UNION SELECT relid FROM pg_partition_tree(named.oid)) AS tree
    JOIN pg_class AS class ON class.oid = tree.relid
    WHERE named.relnamespace = namespace.oid AND named.relname = wanted.relname AND named.relkind NOT IN ('c', 'i', 'I')
    UNION ALL
    SELECT type.oid::regtype::text, typowner, format('the type %%s', type.oid::regtype), 'TYPE'
    FROM pg_type AS type
    LEFT JOIN pg_class AS class ON class.oid = typrelid
    WHERE typnamespace = namespace.oid AND typname = wanted.relname AND (typrelid = 0 OR class.relkind = 'c')
) AS found (name, owner, what, kind)
WHERE NOT pg_has_role(found.owner, current_user, 'MEMBER')
ORDER BY wanted.nspname, wanted.relname, found.name
