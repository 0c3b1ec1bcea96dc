-- The columns of a table that is written to: name, type beneath its domains, whether the database computes it, whether
-- it alone may number it, and what the type is compared with as a key: the equality of its default B-tree operators, or of
-- those that hash it, if it has no order; they may be in any schema, and take the type itself.
WITH RECURSIVE beneath AS (
    SELECT a.attnum, a.attname, a.attgenerated, a.attidentity, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_attribute AS a
    JOIN pg_class AS class ON class.oid = a.attrelid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, b.attname, b.attgenerated, b.attidentity, domain.typbasetype, domain.typtypmod
    FROM beneath AS b
    JOIN pg_type AS domain ON domain.oid = b.type AND domain.typtype = 'd'
)
SELECT b.attname, format_type(b.type, b.modifier), b.attgenerated <> '', b.attidentity = 'a', equal.nspname, equal.oprname,
       equal.input
FROM beneath AS b
JOIN pg_type AS type ON type.oid = b.type AND type.typtype <> 'd'
JOIN pg_namespace AS type_schema ON type_schema.oid = type.typnamespace
LEFT JOIN LATERAL (
    SELECT operator_schema.nspname, operator.oprname, format('%%I.%%I', type_schema.nspname, type.typname) AS input
    FROM pg_opclass AS class
    JOIN pg_am AS method ON method.oid = class.opcmethod
    JOIN (VALUES ('btree', 3), ('hash', 1)) AS equality (method, strategy) ON equality.method = method.amname
    JOIN pg_amop AS member ON member.amopfamily = class.opcfamily AND member.amopstrategy = equality.strategy
        AND member.amoplefttype = b.type AND member.amoprighttype = b.type
    JOIN pg_operator AS operator ON operator.oid = member.amopopr
    JOIN pg_namespace AS operator_schema ON operator_schema.oid = operator.oprnamespace
    WHERE class.opcintype = b.type AND class.opcdefault
    ORDER BY equality.method
    LIMIT 1
) AS equal ON true
ORDER BY b.attnum
