-- The unique and exclusion constraints of a table that are checked later than their statement: columns, each with the
-- operator by which two rows are alike, and the type that it takes; an expression has no name.
SELECT c.conname, array_agg(a.attname ORDER BY part.n), array_agg(operator_schema.nspname ORDER BY part.n),
       array_agg(operator.oprname ORDER BY part.n),
       array_agg(format('%%I.%%I', input_schema.nspname, input.typname) ORDER BY part.n)
FROM pg_constraint AS c
JOIN pg_class AS class ON class.oid = c.conrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_index AS i ON i.indexrelid = c.conindid
CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
LEFT JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
LEFT JOIN pg_opclass AS opclass ON opclass.oid = i.indclass[part.n - 1]
LEFT JOIN pg_amop AS equal ON equal.amopfamily = opclass.opcfamily AND equal.amopstrategy = 3
    AND equal.amoplefttype = opclass.opcintype AND equal.amoprighttype = opclass.opcintype
LEFT JOIN pg_operator AS operator ON operator.oid = coalesce(c.conexclop[part.n], equal.amopopr)
LEFT JOIN pg_namespace AS operator_schema ON operator_schema.oid = operator.oprnamespace
LEFT JOIN pg_type AS input ON input.oid = operator.oprleft
LEFT JOIN pg_namespace AS input_schema ON input_schema.oid = input.typnamespace
WHERE c.contype IN ('p', 'u', 'x') AND c.condeferrable
  AND namespace.nspname = %(schema)s AND class.relname = %(table)s
GROUP BY c.oid, c.conname
