-- What extensions brought along, types and functions, and the schema that each is in here.
SELECT type.typname, namespace.nspname
FROM pg_depend AS d
JOIN pg_type AS type ON d.classid = 'pg_type'::regclass AND d.objid = type.oid
JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
WHERE d.deptype = 'e'
UNION
SELECT function.proname, namespace.nspname
FROM pg_depend AS d
JOIN pg_proc AS function ON d.classid = 'pg_proc'::regclass AND d.objid = function.oid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE d.deptype = 'e' AND namespace.nspname <> 'pg_catalog'
