-- What a table is, in the form in which commands carry it: see "Commands" in include/docs/architecture.md. A column's
-- number never changes and is never given out again, which tells a rename from a drop and an add.
CREATE OR REPLACE FUNCTION {table_definition}(relation oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $table_definition$
    SELECT jsonb_build_object(
        'schema', namespace.nspname,
        'table', class.relname,
        'columns', coalesce((
            SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'number', a.attnum,
                'name', a.attname,
                'type', format_type(a.atttypid, a.atttypmod),
                'not_null', a.attnotnull,
                'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(made.adbin, made.adrelid) END,
                'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(made.adbin, made.adrelid) END,
                'identity', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END,
                'collation', CASE WHEN a.attcollation <> type.typcollation
                                  THEN format('%I.%I', collation_schema.nspname, coll.collname) END
                )) ORDER BY a.attnum)
            FROM pg_attribute AS a
            JOIN pg_type AS type ON type.oid = a.atttypid
            LEFT JOIN pg_attrdef AS made ON made.adrelid = a.attrelid AND made.adnum = a.attnum
            LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
            LEFT JOIN pg_namespace AS collation_schema ON collation_schema.oid = coll.collnamespace
            WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
        'key', coalesce((
            SELECT jsonb_agg(a.attname ORDER BY part.n)
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
            JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
            WHERE c.conrelid = relation AND c.contype = 'p'), '[]'))
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE class.oid = relation
$table_definition$
