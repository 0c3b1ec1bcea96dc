-- What stays and depends on what goes, so that a DROP of it is refused. With it goes what belongs to it: constraints,
-- defaults, indexes, partitions, the rule of a view (PostgreSQL manual, pg_depend).
WITH RECURSIVE gone (class, oid) AS (
    SELECT * FROM unnest(%(classes)s::oid[], %(oids)s::oid[])
    UNION
    SELECT classid, objid FROM gone JOIN pg_depend ON refclassid = class AND refobjid = oid AND deptype <> 'n'
)
SELECT named.type, named.identity,
       pg_describe_object(coalesce(whole.refclassid, d.classid), coalesce(whole.refobjid, d.objid), 0)
       || ' depends on ' || pg_describe_object(d.refclassid, d.refobjid, 0)
FROM gone
JOIN pg_depend AS d ON d.refclassid = class AND d.refobjid = oid AND d.deptype = 'n'
CROSS JOIN LATERAL pg_identify_object(class, oid, 0) AS named
LEFT JOIN pg_depend AS whole ON whole.classid = d.classid AND whole.objid = d.objid AND whole.deptype = 'i'
WHERE NOT EXISTS (SELECT FROM gone AS also WHERE also.class = d.classid AND also.oid = d.objid)
ORDER BY 1, 2, 3
LIMIT 1
