-- Tables that somebody has added to the registry, or wants to be given their triggers again; none that we may not alter.
SELECT entry.relid, namespace.nspname, class.relname
FROM {tables} AS entry
JOIN pg_class AS class ON class.oid = entry.relid AND pg_has_role(class.relowner, 'USAGE')
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE entry.status = 'CREATING'
