-- What tables are, in the order in which they are asked for; with their indexes that no constraint made, the types of their
-- columns that are not built in, and whether their values may travel in the binary format: those of types that users made,
-- and names of objects, carry numbers that other databases have given to others; an empty tsquery, an xml and an aclitem are
-- not read back.
SELECT known.definition,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(i.name, i.is_unique, i.definition) ORDER BY i.name), '[]')
        FROM ({indexes}) AS i),
       columns.types,
       columns.undecoded
FROM unnest(%(relations)s::text[]::regclass[]) WITH ORDINALITY AS wanted (relid, n)
JOIN ({definition}) AS known USING (relid)
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(type.oid::bigint) FILTER (WHERE type.oid >= 16384), ARRAY[]::bigint[]) AS types,
           coalesce(bool_and(
               type.oid < 16384 AND type.typreceive <> 0 AND element.typreceive <> 0
               AND element.typname !~ '^(reg|tsquery|xml)'), true) AS undecoded
    FROM pg_attribute AS a
    JOIN pg_type AS type ON type.oid = a.atttypid
    JOIN pg_type AS element ON element.oid = coalesce(nullif(type.typelem, 0), type.oid)
    WHERE a.attrelid = wanted.relid AND a.attnum > 0 AND NOT a.attisdropped
) AS columns
ORDER BY wanted.n
