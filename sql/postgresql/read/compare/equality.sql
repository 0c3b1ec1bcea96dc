-- For each of some columns the kind of its values, which are equal on every server where they are on one; NULL where nobody can tell:
-- types of users, and collations by which texts are equal that differ.
SELECT CASE
    WHEN type.oid >= 16384 OR type.typtype <> 'b' OR type.typcategory = 'A' THEN NULL
    WHEN a.attcollation <> 0 AND NOT coalesce(c.collisdeterministic, false) THEN NULL
    WHEN type.typname IN ('int2', 'int4', 'int8') THEN 'int'
    WHEN type.typname = 'varchar' THEN 'text'
    ELSE type.typname
END
FROM unnest(%(columns)s::text[]) WITH ORDINALITY AS part (name, n)
JOIN pg_attribute AS a ON a.attrelid = %(relation)s::regclass AND a.attname = part.name AND NOT a.attisdropped
JOIN pg_type AS type ON type.oid = a.atttypid
LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
ORDER BY part.n
