-- What `replay_guard` looks at: it grows with every ALTER of a column, and with every trigger.
SELECT class.oid::integer, sum(stamp)::bigint
FROM pg_namespace AS namespace
JOIN pg_class AS class ON class.relnamespace = namespace.oid
CROSS JOIN LATERAL (
    SELECT xmin::text::bigint AS stamp FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0
    UNION ALL
    SELECT xmin::text::bigint FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal
) AS stamps
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
GROUP BY class.oid
