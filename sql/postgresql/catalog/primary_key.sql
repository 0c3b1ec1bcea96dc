SELECT a.attname
FROM pg_constraint AS c
JOIN pg_class AS class ON class.oid = c.conrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
WHERE c.contype = 'p' AND namespace.nspname = %(schema)s AND class.relname = %(table)s
ORDER BY part.n
