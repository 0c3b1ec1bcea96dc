-- What a stage was made by, as one text a table: which one it is, whose, whether a crash leaves it, its columns, its keys, which
-- of them are checked late, and what acts by itself on its rows, with the functions that it calls. And whether writing a row may
-- run code of others, or set something: functions that are not the server's own, which the table and all that belongs to it
-- name, also by types and rules, and those of the server's that are not known to be harmless. The latter are no dependencies: a
-- tree of an expression names them by their numbers. Where foreign keys act, they run the code of the tables at their other
-- end, with the rights of the owners of these, who can add some at any time.
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
        SELECT FROM unnest(touched.tables) AS relid
        CROSS JOIN LATERAL (
            SELECT 'pg_class'::regclass::oid, relid
            UNION ALL
            SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = relid
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
        SELECT FROM unnest(touched.tables) AS relid
        CROSS JOIN LATERAL (
            SELECT conbin::text FROM pg_constraint WHERE conrelid = relid AND contype = 'c'
            UNION ALL SELECT adbin::text FROM pg_attrdef WHERE adrelid = relid
            UNION ALL SELECT concat_ws(' ', indexprs, indpred) FROM pg_index WHERE indrelid = relid
            UNION ALL SELECT partexprs::text FROM pg_partitioned_table WHERE partrelid = relid
            UNION ALL SELECT tgqual::text FROM pg_trigger WHERE tgrelid = relid
            UNION ALL SELECT concat_ws(' ', ev_qual, ev_action) FROM pg_rewrite WHERE ev_class = relid
        ) AS printed (tree)
        CROSS JOIN LATERAL regexp_matches(printed.tree, ':\w*(?:funcid|fnoid) (\d+)', 'g') AS called
        JOIN pg_proc AS function ON function.oid = called[1]::oid
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
        WHERE function.proname <> 'nextval' AND NOT ({harmless}))
    OR EXISTS (
        SELECT FROM pg_class AS other
        WHERE other.oid = ANY (touched.others) AND NOT pg_has_role(other.relowner, current_user, 'MEMBER'))
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
CROSS JOIN LATERAL (
    WITH RECURSIVE reached (relid, other, written) AS (
        SELECT class.oid, false, true
        UNION
        SELECT relid, false, true FROM pg_partition_tree(class.oid)
        UNION
        -- To look whether a row is referred to, or refers to one, runs code of that table as well.
        SELECT tgconstrrelid, true, confrelid = tgrelid AND (confupdtype NOT IN ('a', 'r') OR confdeltype NOT IN ('a', 'r'))
        FROM reached
        JOIN pg_trigger ON tgrelid = relid AND tgisinternal AND tgconstrrelid <> relid
        JOIN pg_constraint AS key ON key.oid = tgconstraint
        WHERE written AND current_setting('session_replication_role') <> 'replica'
    )
    SELECT array_agg(DISTINCT relid), array_agg(DISTINCT relid) FILTER (WHERE other) FROM reached
) AS touched (tables, others)
