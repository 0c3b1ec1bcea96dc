-- The sequences that watched tables own, or their defaults use, which have given out a value that we may see.
SELECT
    namespace.nspname, class.relname, a.attname, sequence_schema.nspname, sequence.relname,
    CASE WHEN has_sequence_privilege(sequence.oid, 'SELECT, USAGE') THEN pg_sequence_last_value(sequence.oid) END,
    settings.seqcycle
FROM {tables} AS entry
CROSS JOIN LATERAL {tree}(entry.relid) AS tree (relid)
JOIN pg_class AS class ON class.oid = tree.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_attribute AS a ON a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN LATERAL (
    SELECT objid FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND refobjid = class.oid
      AND refobjsubid = a.attnum AND deptype IN ('a', 'i')
    UNION
    SELECT refobjid FROM pg_depend JOIN pg_attrdef AS def ON def.oid = objid
    WHERE classid = 'pg_attrdef'::regclass AND refclassid = 'pg_class'::regclass
      AND def.adrelid = class.oid AND def.adnum = a.attnum
) AS used ON true
JOIN pg_class AS sequence ON sequence.oid = used.objid AND sequence.relkind = 'S'
JOIN pg_namespace AS sequence_schema ON sequence_schema.oid = sequence.relnamespace
JOIN pg_sequence AS settings ON settings.seqrelid = sequence.oid
