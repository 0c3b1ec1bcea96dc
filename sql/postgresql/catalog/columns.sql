-- The columns of a table that can be written: name, type as text, whether the database computes it.
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated <> ''
FROM pg_attribute AS a
JOIN pg_class AS class ON class.oid = a.attrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
