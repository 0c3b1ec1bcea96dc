-- What a table is made of, to make one like it: types, defaults (a sequence's default becomes an identity), collations.
SELECT
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    a.attnotnull,
    CASE
        WHEN a.attgenerated <> '' THEN 'generated'
        WHEN a.attidentity <> '' OR EXISTS (
            SELECT FROM pg_depend AS d JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S'
            WHERE d.classid = 'pg_attrdef'::regclass AND d.objid = def.oid AND d.refclassid = 'pg_class'::regclass
        ) THEN 'identity'
        WHEN def.oid IS NOT NULL THEN 'default'
        ELSE 'plain'
    END,
    pg_get_expr(def.adbin, def.adrelid),
    CASE WHEN a.attcollation <> type.typcollation THEN format('%%I.%%I', collation_schema.nspname, coll.collname) END,
    a.atttypid < 16384
FROM pg_attribute AS a
JOIN pg_type AS type ON type.oid = a.atttypid
LEFT JOIN pg_attrdef AS def ON def.adrelid = a.attrelid AND def.adnum = a.attnum
LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
LEFT JOIN pg_namespace AS collation_schema ON collation_schema.oid = coll.collnamespace
WHERE a.attrelid = %(relation)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
