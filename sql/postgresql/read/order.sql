-- The columns of a table's primary key, each with what its order depends on; whether two keys are compared as they are
-- sorted, by operators that everybody finds under their plain names. None if the key is checked late. Of another table,
-- which has got its name, the same keys are others.
SELECT a.attname, format('%%s.%%s %%s %%s', c.conrelid, part.attnum, opclass.opcfamily, i.indcollation[part.n - 1]),
       beyond.oprname = '>' AND beyond.oprnamespace = 'pg_catalog'::regnamespace
FROM pg_constraint AS c
JOIN pg_index AS i ON i.indexrelid = c.conindid
CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
JOIN pg_opclass AS opclass ON opclass.oid = i.indclass[part.n - 1]
JOIN pg_amop AS later ON later.amopfamily = opclass.opcfamily AND later.amopstrategy = 5
    AND later.amoplefttype = opclass.opcintype AND later.amoprighttype = opclass.opcintype
JOIN pg_operator AS beyond ON beyond.oid = later.amopopr
WHERE c.conrelid = %(relation)s::regclass AND c.contype = 'p' AND NOT c.condeferrable
ORDER BY part.n
