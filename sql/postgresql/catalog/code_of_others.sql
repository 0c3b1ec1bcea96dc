-- What runs with our rights when rows of a table are written, though others made it, if the table is theirs as well: functions
-- in its indexes, checks, defaults, generated columns, statistics, triggers and rules, and in checks of its domains. Members of
-- our role, as every superuser is of each, could do as we do anyway. What such a function calls in turn nobody can tell.
WITH relation AS (
    SELECT class.oid, class.relowner
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
      AND NOT pg_has_role(class.relowner, current_user, 'MEMBER')
), part (class, oid) AS (
    SELECT 'pg_class'::regclass::oid, indexrelid FROM relation JOIN pg_index ON indrelid = relation.oid
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, made.oid FROM relation JOIN pg_statistic_ext AS made ON stxrelid = relation.oid
    UNION ALL
    SELECT 'pg_constraint'::regclass, made.oid FROM relation JOIN pg_constraint AS made ON conrelid = relation.oid
    UNION ALL
    SELECT 'pg_constraint'::regclass, made.oid
    FROM relation
    JOIN pg_attribute AS a ON a.attrelid = relation.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_constraint AS made ON made.contypid = a.atttypid
    UNION ALL
    SELECT 'pg_attrdef'::regclass, made.oid FROM relation JOIN pg_attrdef AS made ON adrelid = relation.oid
    UNION ALL
    SELECT 'pg_trigger'::regclass, made.oid FROM relation JOIN pg_trigger AS made ON tgrelid = relation.oid AND NOT tgisinternal
    UNION ALL
    SELECT 'pg_rewrite'::regclass, made.oid FROM relation JOIN pg_rewrite AS made ON ev_class = relation.oid
)
SELECT DISTINCT pg_get_userbyid(relation.relowner), function.oid::regprocedure::text, pg_describe_object(part.class, part.oid, 0)
FROM relation
CROSS JOIN part
JOIN pg_depend AS depends ON depends.classid = part.class AND depends.objid = part.oid
LEFT JOIN pg_operator AS operator ON depends.refclassid = 'pg_operator'::regclass AND operator.oid = depends.refobjid
JOIN pg_proc AS function
    ON function.oid = CASE depends.refclassid WHEN 'pg_proc'::regclass THEN depends.refobjid ELSE operator.oprcode END
WHERE NOT pg_has_role(function.proowner, current_user, 'MEMBER')
ORDER BY 2, 3
