-- What a stage was made by, as one text a table: which one it is, whose, whether a crash leaves it, its columns, its keys, which
-- of them are checked late, and what acts by itself on its rows, with the functions that it calls. And whether writing a row may
-- run code of others, or set something: functions that are not the server's own, which the table and all that belongs to it
-- name, also by types and rules, and those of the server's that are not known to be harmless. The latter are no dependencies: a
-- tree of an expression names them by their numbers.
SELECT namespace.nspname, class.relname, md5(concat_ws(' ', class.oid, class.relowner, class.relpersistence,
    (SELECT string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attnotnull, atthasdef, attgenerated,
                                 attidentity, attisdropped), ',' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0),
    (SELECT string_agg(concat_ws(' ', indexrelid, indimmediate, indisvalid), ',' ORDER BY indexrelid)
     FROM pg_index WHERE indrelid = class.oid AND (indisunique OR indisexclusion)),
    (SELECT string_agg(concat_ws(' ', acts.oid, acts.xmin, function.xmin), ',' ORDER BY acts.oid)
     FROM pg_trigger AS acts JOIN pg_proc AS function ON function.oid = acts.tgfoid
     WHERE (acts.tgrelid = class.oid OR acts.tgrelid IN (SELECT relid FROM pg_partition_tree(class.oid)))
         AND NOT acts.tgisinternal),
    (SELECT string_agg(concat_ws(' ', oid, xmin), ',' ORDER BY oid) FROM pg_rewrite WHERE ev_class = class.oid),
    (SELECT string_agg(concat_ws(' ', oid, xmin), ',' ORDER BY oid)
     FROM pg_constraint WHERE conrelid = class.oid AND contype = 'f'))),
    EXISTS (
        SELECT FROM (SELECT class.oid UNION SELECT relid FROM pg_partition_tree(class.oid)) AS tree (relid)
        CROSS JOIN LATERAL (
            SELECT 'pg_class'::regclass::oid, tree.relid
            UNION ALL
            SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = tree.relid
        ) AS part (class, object)
        JOIN pg_depend AS named ON named.classid = part.class AND named.objid = part.object
        WHERE named.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
          -- The first number that the server gives to what users make. Source: PostgreSQL, access/transam.h.
          AND named.refobjid >= 16384
          -- Labels of an enum run nothing.
          AND NOT (named.refclassid = 'pg_type'::regclass AND EXISTS (
              SELECT FROM pg_type AS type LEFT JOIN pg_type AS element ON element.oid = type.typelem
              WHERE type.oid = named.refobjid AND 'e' IN (type.typtype, element.typtype))))
    OR EXISTS (
        SELECT FROM (SELECT class.oid UNION SELECT relid FROM pg_partition_tree(class.oid)) AS tree (relid)
        CROSS JOIN LATERAL (
            SELECT conbin::text FROM pg_constraint WHERE conrelid = tree.relid AND contype = 'c'
            UNION ALL SELECT adbin::text FROM pg_attrdef WHERE adrelid = tree.relid
            UNION ALL SELECT concat_ws(' ', indexprs, indpred) FROM pg_index WHERE indrelid = tree.relid
            UNION ALL SELECT partexprs::text FROM pg_partitioned_table WHERE partrelid = tree.relid
            UNION ALL SELECT tgqual::text FROM pg_trigger WHERE tgrelid = tree.relid
            UNION ALL SELECT concat_ws(' ', ev_qual, ev_action) FROM pg_rewrite WHERE ev_class = tree.relid
        ) AS printed (tree)
        CROSS JOIN LATERAL regexp_matches(printed.tree, ':\w*(?:funcid|fnoid) (\d+)', 'g') AS called
        JOIN pg_proc AS function ON function.oid = called[1]::oid
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
        WHERE function.proname <> 'nextval' AND NOT ({harmless}))
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
