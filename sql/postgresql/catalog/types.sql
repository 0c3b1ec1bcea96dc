-- The types made by users that columns need, down to what these are made of: name, extension, parts, labels of an enum,
-- and what follows CREATE TYPE or CREATE DOMAIN; nothing where that is not to be had from the catalog.
WITH RECURSIVE needed (type) AS (
    SELECT unnest({columns}::oid[])
    UNION
    SELECT part.type
    FROM needed
    JOIN pg_type AS whole ON whole.oid = needed.type
    CROSS JOIN LATERAL (
        SELECT whole.typbasetype WHERE whole.typtype = 'd'
        UNION ALL SELECT whole.typelem WHERE whole.typtype = 'b' AND whole.typoutput = 'array_out'::regproc
        UNION ALL SELECT rngsubtype FROM pg_range WHERE rngtypid = whole.oid
        UNION ALL SELECT rngtypid FROM pg_range WHERE rngmultitypid = whole.oid
        UNION ALL SELECT atttypid FROM pg_attribute
            WHERE whole.typtype = 'c' AND attrelid = whole.typrelid AND attnum > 0 AND NOT attisdropped
    ) AS part (type)
    WHERE whole.oid >= 16384
), edges AS (
    SELECT whole.oid AS whole,
           CASE WHEN part.typtype = 'b' AND part.typoutput = 'array_out'::regproc THEN part.typelem ELSE part.oid END AS part
    FROM pg_type AS whole
    JOIN pg_depend AS d ON d.refclassid = 'pg_type'::regclass
        AND (d.classid = 'pg_type'::regclass AND d.objid = whole.oid
             OR d.classid = 'pg_class'::regclass AND d.objid = whole.typrelid AND whole.typtype = 'c')
    JOIN pg_type AS part ON part.oid = d.refobjid
    WHERE whole.oid IN (SELECT type FROM needed) AND part.oid IN (SELECT type FROM needed)
)
SELECT
    type.oid::bigint AS oid,
    namespace.nspname AS schema,
    type.typname AS name,
    CASE type.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END AS kind,
    (SELECT extname FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
     WHERE d.classid = 'pg_type'::regclass AND d.objid = type.oid AND d.deptype = 'e') AS extension,
    ARRAY(SELECT DISTINCT part::bigint FROM edges WHERE whole = type.oid AND part <> whole) AS parts,
    ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = type.oid ORDER BY enumsortorder) AS labels,
    CASE
        WHEN type.typtype = 'e' THEN concat('AS ENUM (', (
            SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = type.oid),
            ')')
        WHEN type.typtype = 'd' THEN concat('AS ',
            format_type(type.typbasetype, type.typtypmod),
            CASE WHEN type.typcollation <> base.typcollation THEN ' COLLATE ' || type.typcollation::regcollation END,
            ' DEFAULT ' || pg_get_expr(type.typdefaultbin, 0),
            CASE WHEN type.typnotnull THEN ' NOT NULL' END,
            (SELECT string_agg(' CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid), '' ORDER BY conname)
             FROM pg_constraint WHERE contypid = type.oid AND contype = 'c'))
        WHEN type.typtype = 'c' AND class.relkind = 'c' THEN concat('AS (', (
            SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped), ')')
        WHEN type.typtype = 'r' AND range.rngcanonical = 0 THEN concat('AS RANGE (SUBTYPE = ',
            format_type(range.rngsubtype, NULL), ', MULTIRANGE_TYPE_NAME = ', format_type(range.rngmultitypid, NULL), ')')
    END AS definition
FROM needed
JOIN pg_type AS type ON type.oid = needed.type
JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
LEFT JOIN pg_type AS base ON base.oid = type.typbasetype
LEFT JOIN pg_class AS class ON class.oid = type.typrelid
LEFT JOIN pg_range AS range ON range.rngtypid = type.oid
WHERE type.oid >= 16384 AND type.typtype <> 'm' AND NOT (type.typtype = 'b' AND type.typoutput = 'array_out'::regproc)
ORDER BY type.oid
