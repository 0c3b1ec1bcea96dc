-- Whether something besides its primary key stands against rows of two times side by side in a table, or loses them all.
SELECT class.relpersistence <> 'p' OR EXISTS (
    SELECT FROM pg_index AS index
    WHERE index.indrelid = class.oid AND ((index.indisunique AND NOT index.indisprimary) OR index.indisexclusion))
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
