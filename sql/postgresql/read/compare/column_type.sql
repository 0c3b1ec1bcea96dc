-- The type of a column, which `sorting` knows as one of the server's own.
SELECT type.typname
FROM pg_attribute AS a
JOIN pg_type AS type ON type.oid = a.atttypid
WHERE a.attrelid = %(relation)s::regclass AND a.attname = %(column)s
