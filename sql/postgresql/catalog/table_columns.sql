-- What a table is made of, to make one like it: types, defaults (a sequence's default becomes an identity that counts
-- alike), collations. The last says whether values may travel in the binary format. Those of types that users made, and
-- names of objects, carry numbers that other databases have given to others; an empty tsquery, an xml and an aclitem are
-- not read back.
SELECT
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    a.attnotnull,
    CASE
        WHEN a.attgenerated = 's' THEN 'stored'
        WHEN a.attgenerated = 'v' THEN 'virtual'
        WHEN counter.seqrelid IS NOT NULL AND whole.high IS NOT NULL AND a.attnotnull THEN 'identity'
        WHEN counter.seqrelid IS NOT NULL THEN 'plain'
        WHEN def.oid IS NOT NULL THEN 'default'
        ELSE 'plain'
    END,
    CASE WHEN counter.seqrelid IS NULL THEN pg_get_expr(def.adbin, def.adrelid) ELSE format(
        'INCREMENT BY %%s MINVALUE %%s MAXVALUE %%s START WITH %%s %%s', counter.seqincrement,
        greatest(counter.seqmin, -whole.high - 1), least(counter.seqmax, whole.high),
        least(counter.seqstart, whole.high), CASE WHEN counter.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END) END,
    CASE WHEN a.attcollation <> type.typcollation THEN format('%%I.%%I', collation_schema.nspname, coll.collname) END,
    type.oid < 16384 AND type.typreceive <> 0 AND element.typreceive <> 0 AND element.typname !~ '^(reg|tsquery|xml)'
FROM pg_attribute AS a
JOIN pg_type AS type ON type.oid = a.atttypid
JOIN pg_type AS element ON element.oid = coalesce(nullif(type.typelem, 0), type.oid)
LEFT JOIN pg_attrdef AS def ON def.adrelid = a.attrelid AND def.adnum = a.attnum
LEFT JOIN LATERAL (
    SELECT settings.*
    FROM pg_depend AS d
    JOIN pg_sequence AS settings ON settings.seqrelid IN (d.objid, d.refobjid)
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
          AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
       OR d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass AND d.objid = def.oid
    LIMIT 1
) AS counter ON true
LEFT JOIN (VALUES ('smallint'::regtype, 32767), ('integer', 2147483647), ('bigint', 9223372036854775807))
    AS whole (type, high) ON whole.type = a.atttypid
LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
LEFT JOIN pg_namespace AS collation_schema ON collation_schema.oid = coll.collnamespace
WHERE a.attrelid = %(relation)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
