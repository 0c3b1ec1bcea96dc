-- What constraints and indexes of a table are called.
WITH relation AS MATERIALIZED (
    SELECT class.oid
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
)
SELECT conname FROM pg_constraint WHERE conrelid = (SELECT oid FROM relation)
UNION
SELECT class.relname FROM pg_index JOIN pg_class AS class ON class.oid = indexrelid
WHERE indrelid = (SELECT oid FROM relation)
