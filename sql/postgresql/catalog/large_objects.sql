-- The columns of a table that may name large objects: of type oid, or of a domain over it, as that of the extension lo is.
WITH RECURSIVE beneath AS (
    SELECT attnum, attname, atttypid AS type
    FROM pg_attribute
    WHERE attrelid = to_regclass(%(relation)s) AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT b.attnum, b.attname, domain.typbasetype
    FROM beneath AS b
    JOIN pg_type AS domain ON domain.oid = b.type AND domain.typtype = 'd'
)
SELECT attname FROM beneath WHERE type = 'oid'::regtype ORDER BY attnum
