-- The slave's sequences for columns of the master's tables: the column's own one, or the one that its default uses, or
-- else the one of the master's name. Only those that we may set.
SELECT wanted.number, namespace.nspname, sequence.relname, settings.seqincrement, settings.seqmin, settings.seqmax
FROM jsonb_to_recordset(%(wanted)s) AS wanted
    (number integer, "schema" text, "table" text, "column" text, sequence_schema text, sequence text)
CROSS JOIN LATERAL (
    SELECT used.objid FROM (
        SELECT 1 AS rank, objid FROM pg_depend
        JOIN pg_attribute AS a ON a.attrelid = refobjid AND a.attnum = refobjsubid
        WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i')
          AND refobjid = to_regclass(format('%%I.%%I', wanted."schema", wanted."table")) AND a.attname = wanted."column"
        UNION ALL
        SELECT 2, refobjid FROM pg_depend
        JOIN pg_attrdef AS def ON def.oid = objid
        JOIN pg_attribute AS a ON a.attrelid = def.adrelid AND a.attnum = def.adnum
        WHERE classid = 'pg_attrdef'::regclass AND refclassid = 'pg_class'::regclass
          AND def.adrelid = to_regclass(format('%%I.%%I', wanted."schema", wanted."table"))
          AND a.attname = wanted."column"
        UNION ALL
        SELECT 3, to_regclass(format('%%I.%%I', wanted.sequence_schema, wanted.sequence))
    ) AS used
    JOIN pg_class AS candidate ON candidate.oid = used.objid AND candidate.relkind = 'S'
    ORDER BY used.rank
    LIMIT 1
) AS found
JOIN pg_class AS sequence ON sequence.oid = found.objid
JOIN pg_namespace AS namespace ON namespace.oid = sequence.relnamespace
JOIN pg_sequence AS settings ON settings.seqrelid = sequence.oid
WHERE has_sequence_privilege(sequence.oid, 'SELECT') AND has_sequence_privilege(sequence.oid, 'UPDATE')
