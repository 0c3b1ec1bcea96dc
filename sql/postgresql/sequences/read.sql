-- The sequences that watched tables own, or their defaults use, which have given out a value that we may see. Looked up
-- one by one (OFFSET 0), whatever the planner thinks: a database may have very many other tables.
WITH RECURSIVE tree (relid) AS (
    SELECT relid FROM {tables}
    UNION
    SELECT below.inhrelid
    FROM tree
    JOIN pg_inherits AS below ON below.inhparent = tree.relid
    JOIN pg_class AS class ON class.oid = below.inhrelid AND class.relispartition
)
SELECT
    owner.nspname, owner.relname, owner.attname, sequence.nspname, sequence.relname,
    CASE WHEN has_sequence_privilege(used.sequence, 'SELECT, USAGE') THEN pg_sequence_last_value(used.sequence) END,
    sequence.seqcycle
FROM tree
CROSS JOIN LATERAL (
    SELECT refobjsubid AS number, objid AS sequence FROM pg_depend
    WHERE refclassid = 'pg_class'::regclass AND refobjid = tree.relid AND refobjsubid > 0
      AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i')
    UNION
    SELECT def.adnum, uses.refobjid
    FROM (SELECT oid, adnum FROM pg_attrdef WHERE adrelid = tree.relid OFFSET 0) AS def
    CROSS JOIN LATERAL (
        SELECT refobjid FROM pg_depend
        WHERE classid = 'pg_attrdef'::regclass AND objid = def.oid AND refclassid = 'pg_class'::regclass
        OFFSET 0) AS uses
) AS used
CROSS JOIN LATERAL (
    SELECT namespace.nspname, class.relname, settings.seqcycle
    FROM pg_sequence AS settings
    JOIN pg_class AS class ON class.oid = settings.seqrelid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE settings.seqrelid = used.sequence
    OFFSET 0) AS sequence
CROSS JOIN LATERAL (
    SELECT namespace.nspname, class.relname, a.attname
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = class.oid
    WHERE class.oid = tree.relid AND a.attnum = used.number AND NOT a.attisdropped
    OFFSET 0) AS owner
