-- What tables are, by relid, in the form in which commands carry it: see "Commands" in include/docs/ddl.md. A dump
-- reads the same. A column's number never changes and is never given out again, which tells a rename from a drop and an add.
-- Indexes that no constraint made are not in it, nor NOT NULL as a constraint: one that is not valid lets NULLs be there.
SELECT class.oid AS relid, jsonb_build_object(
    'schema', namespace.nspname,
    'table', class.relname,
    'columns', coalesce((
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'number', a.attnum,
            'name', a.attname,
            'type', format_type(a.atttypid, a.atttypmod),
            'not_null', a.attnotnull AND NOT EXISTS (
                SELECT FROM pg_constraint AS c
                WHERE c.conrelid = a.attrelid AND c.contype = 'n' AND NOT c.convalidated AND c.conkey = ARRAY[a.attnum]),
            'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(made.adbin, made.adrelid) END,
            'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(made.adbin, made.adrelid) END,
            'virtual', CASE WHEN a.attgenerated = 'v' THEN true END,
            'identity', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END,
            'counter', CASE WHEN counter.seqrelid IS NOT NULL THEN concat(
                'INCREMENT BY ', counter.seqincrement,
                ' MINVALUE ', greatest(counter.seqmin, -whole.high - 1),
                ' MAXVALUE ', least(counter.seqmax, whole.high),
                ' START WITH ', least(counter.seqstart, whole.high),
                CASE WHEN counter.seqcycle THEN ' CYCLE' ELSE ' NO CYCLE' END) END,
            'collation', CASE WHEN a.attcollation <> type.typcollation
                              THEN quote_ident(collation_schema.nspname) || '.' || quote_ident(coll.collname) END
            )) ORDER BY a.attnum)
        FROM pg_attribute AS a
        JOIN pg_type AS type ON type.oid = a.atttypid
        LEFT JOIN pg_attrdef AS made ON made.adrelid = a.attrelid AND made.adnum = a.attnum
        LEFT JOIN LATERAL (
            -- The sequence that is the column's own, or that its default draws from.
            SELECT settings.*
            FROM pg_depend AS d
            JOIN pg_sequence AS settings ON settings.seqrelid IN (d.objid, d.refobjid)
            WHERE (a.attidentity <> '' OR made.oid IS NOT NULL AND a.attgenerated = '')
              AND d.refclassid = 'pg_class'::regclass
              AND (d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND d.refobjid = a.attrelid
                   AND d.refobjsubid = a.attnum
                   OR d.classid = 'pg_attrdef'::regclass AND d.objid = made.oid)
            LIMIT 1
        ) AS counter ON true
        LEFT JOIN (VALUES ('smallint'::regtype, 32767), ('integer', 2147483647), ('bigint', 9223372036854775807))
            AS whole (type, high) ON whole.type = a.atttypid
        LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
        LEFT JOIN pg_namespace AS collation_schema ON collation_schema.oid = coll.collnamespace
        WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
    'key', coalesce((
        SELECT jsonb_agg(a.attname ORDER BY part.n)
        FROM pg_constraint AS c
        CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
        WHERE c.conrelid = class.oid AND c.contype = 'p'), '[]'),
    'constraints', coalesce((
        SELECT jsonb_agg(jsonb_build_array(c.conname, pg_get_constraintdef(c.oid)) ORDER BY c.contype <> 'p', c.conname)
        FROM pg_constraint AS c
        WHERE c.conrelid = class.oid AND c.contype IN ('p', 'u', 'c', 'x')), '[]'),
    'foreign_keys', coalesce((
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'name', c.conname,
            'columns', (SELECT jsonb_agg(a.attname ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k (num, n)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num),
            'schema', parent_schema.nspname,
            'table', parent.relname,
            'parent_columns', (SELECT jsonb_agg(a.attname ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY AS k (num, n)
                               JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.num),
            'on_update', c.confupdtype,
            'on_delete', c.confdeltype,
            'full', c.confmatchtype = 'f',
            'deferrable', c.condeferrable,
            'deferred', c.condeferred,
            -- Older servers lack these columns.
            'period', nullif((to_jsonb(c) ->> 'conperiod')::boolean, false),
            'cleared', (SELECT jsonb_agg(a.attname ORDER BY k.n)
                        FROM jsonb_array_elements_text(nullif(to_jsonb(c) -> 'confdelsetcols', 'null')) WITH ORDINALITY AS k (num, n)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num::int),
            'lenience', substring(pg_get_constraintdef(c.oid) FROM '(NOT VALID|NOT ENFORCED)$'))) ORDER BY c.conname)
        FROM pg_constraint AS c
        JOIN pg_class AS parent ON parent.oid = c.confrelid
        JOIN pg_namespace AS parent_schema ON parent_schema.oid = parent.relnamespace
        WHERE c.conrelid = class.oid AND c.contype = 'f' AND c.conparentid = 0), '[]')
    ) AS definition
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
