-- What `replay_guard` looks at: it grows with every ALTER of a column.
SELECT class.oid::integer, sum(a.xmin::text::bigint)::bigint
FROM pg_namespace AS namespace
JOIN pg_class AS class ON class.relnamespace = namespace.oid
JOIN pg_attribute AS a ON a.attrelid = class.oid AND a.attnum > 0
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
GROUP BY class.oid
