-- Whether a table's values may travel in the binary format. Those of types that users made, and names of objects, carry
-- numbers that other databases have given to others; an empty tsquery, an xml and an aclitem are not read back.
SELECT coalesce(bool_and(
    type.oid < 16384 AND type.typreceive <> 0 AND element.typreceive <> 0 AND element.typname !~ '^(reg|tsquery|xml)'), true)
FROM pg_attribute AS a
JOIN pg_type AS type ON type.oid = a.atttypid
JOIN pg_type AS element ON element.oid = coalesce(nullif(type.typelem, 0), type.oid)
WHERE a.attrelid = %(relation)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
