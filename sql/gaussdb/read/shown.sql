-- Whether a name stands for the rows that this session's snapshot shows under it. The server takes the name, and the file of the
-- table, as they are now: of one that was rewritten since, the snapshot shows no row.
SELECT
    class.relkind = 'r'
    AND class.oid = %(relation)s::regclass::oid
    AND coalesce(pg_relation_filenode(class.oid), 0) = class.relfilenode
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname::text = %(schema)s::text AND class.relname::text = %(table)s::text
