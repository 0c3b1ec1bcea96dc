-- What the order of some columns depends on, in words that mean the same on every server; NULL where nobody can tell:
-- types of users, collations whose version the server does not know.
SELECT CASE
    WHEN type.oid >= 16384 OR type.typtype <> 'b' OR type.typcategory = 'A' THEN NULL
    WHEN a.attcollation = 0 THEN kind.name
    WHEN NOT coalesce(c.collisdeterministic, false) THEN NULL
    WHEN used.provider = 'b' OR (used.provider = 'c' AND used.name IN ('C', 'POSIX')) THEN kind.name || ' bytewise'
    ELSE format('%%s %%s %%s ', kind.name, used.provider, used.name) || pg_collation_actual_version(c.oid)
END
FROM unnest(%(columns)s::text[]) WITH ORDINALITY AS part (name, n)
JOIN pg_attribute AS a ON a.attrelid = %(relation)s::regclass AND a.attname = part.name
JOIN pg_type AS type ON type.oid = a.atttypid
JOIN pg_database AS here ON here.datname = current_database()
LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
CROSS JOIN LATERAL (
    SELECT CASE WHEN type.typname IN ('int2', 'int4', 'int8') THEN 'int'
                WHEN type.typname = 'varchar' THEN 'text' ELSE type.typname END AS name
) AS kind
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.collprovider = 'd' THEN to_jsonb(here) ->> 'datlocprovider' ELSE c.collprovider::text END AS provider,
           CASE WHEN c.collprovider = 'd'
                THEN coalesce(to_jsonb(here) ->> 'datlocale', to_jsonb(here) ->> 'daticulocale', here.datcollate)
                ELSE coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale', c.collcollate) END AS name
) AS used
ORDER BY part.n
