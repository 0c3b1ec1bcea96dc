-- Columns of relations whose text has floating-point numbers, also within arrays, domains, composites and ranges.
WITH RECURSIVE part (whole, element) AS (
    SELECT oid, typelem FROM pg_type WHERE typelem <> 0
    UNION ALL SELECT oid, typbasetype FROM pg_type WHERE typbasetype <> 0
    UNION ALL SELECT rngtypid, rngsubtype FROM pg_range
    UNION ALL
    SELECT composite.oid, a.atttypid
    FROM pg_type AS composite
    JOIN pg_attribute AS a ON a.attrelid = composite.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE composite.typtype = 'c'
),
rounded (type) AS (
    SELECT oid FROM pg_type
    WHERE typnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'pg_catalog')
      AND typname IN ('float4', 'float8', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle')
    UNION
    SELECT part.whole FROM rounded JOIN part ON part.element = rounded.type
)
SELECT a.attrelid::bigint, a.attname::text
FROM pg_attribute AS a
WHERE a.attrelid = ANY (%(relations)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
  AND a.atttypid IN (SELECT type FROM rounded)
ORDER BY a.attrelid, a.attnum
