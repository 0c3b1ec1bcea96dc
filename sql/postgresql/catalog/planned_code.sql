-- Functions of others that run as soon as somebody plans a query of these tables, with the rights of who does: the planner works
-- out IMMUTABLE calls, and what such a function calls may be anything. They are called by expressions and conditions of
-- indexes, of statistics, of CHECK and EXCLUDE constraints, and of partition keys, also of the tables above. Ours is what belongs
-- to a member of the capture's role, as every superuser is, or of a role that the configuration trusts.
SELECT part.class, part.object, function.oid AS function, function.proowner AS owner
FROM ({members}) AS member (relid)
CROSS JOIN LATERAL (
    SELECT 'pg_class'::regclass, indexrelid FROM pg_index
    WHERE indrelid = member.relid AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = member.relid
    UNION ALL
    SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = member.relid AND contype IN ('c', 'x')
    UNION ALL
    SELECT 'pg_class'::regclass, member.relid
) AS part (class, object)
JOIN pg_depend AS named ON named.classid = part.class AND named.objid = part.object
    AND named.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
LEFT JOIN pg_operator AS operator ON operator.oid = named.refobjid AND named.refclassid = 'pg_operator'::regclass
JOIN pg_proc AS function ON function.oid = coalesce(operator.oprcode::oid, named.refobjid)
WHERE NOT pg_has_role(function.proowner, {capturer}, 'MEMBER')
  AND NOT EXISTS (
    SELECT FROM pg_roles AS trusted
    WHERE trusted.rolname::text = ANY ({trusted}::text[]) AND pg_has_role(function.proowner, trusted.oid, 'MEMBER'))
