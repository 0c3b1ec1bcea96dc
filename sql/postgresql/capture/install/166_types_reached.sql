-- What types of users are made of that columns of a table reach, by arrays, domains, ranges and other types, too: of an enum
-- its labels by what never changes of them, of a composite, or of the rows of a table, its attributes in order. Rows are kept
-- by numbers of both, and printed as these are now.
CREATE OR REPLACE FUNCTION {types_reached}(relation oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $types_reached$
    WITH RECURSIVE reached (type) AS (
        SELECT atttypid
        FROM pg_attribute
        WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND atttypid >= 16384
        UNION
        SELECT part.type
        FROM reached
        JOIN pg_type AS whole ON whole.oid = reached.type
        CROSS JOIN LATERAL (
            SELECT unnest(ARRAY[whole.typbasetype, whole.typelem])
            UNION ALL SELECT rngsubtype FROM pg_range WHERE rngtypid = whole.oid
            UNION ALL SELECT rngtypid FROM pg_range WHERE rngmultitypid = whole.oid
            UNION ALL SELECT atttypid FROM pg_attribute
                WHERE whole.typtype = 'c' AND attrelid = whole.typrelid AND attnum > 0 AND NOT attisdropped
        ) AS part (type)
        WHERE part.type >= 16384
    )
    SELECT coalesce(jsonb_object_agg(type.oid, CASE type.typtype
        WHEN 'e' THEN coalesce((
            SELECT jsonb_object_agg(label.oid, label.enumlabel) FROM pg_enum AS label WHERE label.enumtypid = type.oid), '{{ }}')
        ELSE coalesce((
            SELECT jsonb_agg(jsonb_build_array(attnum, atttypid::bigint, atttypmod) ORDER BY attnum)
            FROM pg_attribute
            WHERE attrelid = type.typrelid AND attnum > 0 AND NOT attisdropped), '[]')
        END), '{{ }}')
    FROM reached
    JOIN pg_type AS type ON type.oid = reached.type
    WHERE type.typtype IN ('e', 'c')
$types_reached$
