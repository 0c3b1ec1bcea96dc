-- Whether a constraint on the table, or one that refers to it, is checked only at commit.
SELECT EXISTS (
    SELECT FROM pg_constraint AS c
    JOIN pg_class AS class ON class.oid IN (c.conrelid, c.confrelid)
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND c.condeferrable AND c.contype <> 't')
