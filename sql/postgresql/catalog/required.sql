-- The columns that every INSERT must name: NOT NULL, and nothing gives them a value.
SELECT a.attname
FROM pg_attribute AS a
JOIN pg_class AS class ON class.oid = a.attrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
ORDER BY a.attnum
