-- The types of a table's columns, as far as they are the server's own; and whether a column surely has a value in every row. One
-- that had none before NOT NULL was declared may have none yet (NOT VALID).
SELECT a.attname, CASE WHEN type.typnamespace = 'pg_catalog'::regnamespace THEN type.typname END,
    a.attnotnull AND NOT EXISTS (
        SELECT FROM pg_constraint AS c
        WHERE c.conrelid = a.attrelid AND c.contype = 'n' AND NOT c.convalidated AND a.attnum = ANY (c.conkey))
FROM pg_attribute AS a
JOIN pg_type AS type ON type.oid = a.atttypid
WHERE a.attrelid = %(relation)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
