SELECT EXISTS (
    SELECT FROM pg_constraint AS c
    JOIN pg_class AS class ON class.oid = c.conrelid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE c.contype IN ('p', 'u', 'x') AND c.condeferrable
      AND namespace.nspname = %(schema)s AND class.relname = %(table)s)
