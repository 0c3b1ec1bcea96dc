-- Tables that inherit from one of these and are no partitions of it.
SELECT heir_schema.nspname || '.' || heir.relname || ' from ' || namespace.nspname || '.' || class.relname
FROM unnest({tables}) AS wanted (relid)
JOIN pg_class AS class ON class.oid = wanted.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_inherits ON inhparent = wanted.relid
JOIN pg_class AS heir ON heir.oid = inhrelid AND NOT heir.relispartition
JOIN pg_namespace AS heir_schema ON heir_schema.oid = heir.relnamespace
ORDER BY 1
