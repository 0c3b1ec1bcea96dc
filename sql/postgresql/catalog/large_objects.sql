-- Columns that may name large objects: of type oid, or of a domain over it, as that of the extension lo is.
WITH RECURSIVE beneath AS (
    SELECT attrelid, attnum, attname, atttypid AS type
    FROM pg_attribute
    WHERE attrelid = ANY ({tables}) AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT b.attrelid, b.attnum, b.attname, domain.typbasetype
    FROM beneath AS b
    JOIN pg_type AS domain ON domain.oid = b.type AND domain.typtype = 'd'
)
SELECT namespace.nspname || '.' || class.relname || '.' || beneath.attname
FROM beneath
JOIN pg_class AS class ON class.oid = beneath.attrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE beneath.type = 'oid'::regtype
ORDER BY namespace.nspname, class.relname, beneath.attnum
