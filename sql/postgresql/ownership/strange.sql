-- Things with names of ours in a schema that somebody else could change or have act, and the statement that ends it. Who is a
-- member of our role, as every superuser is of each, could do as we do anyway. Tables and views are made anew, and not taken
-- over: checks, defaults, policies and queries are code of those who made them. A publication says for its
-- owner alone what comes out of the server's log.
WITH ours AS (
    SELECT oid, relname, relkind, relowner, oid::regclass::text AS name
    FROM pg_class
    WHERE relnamespace = to_regnamespace(quote_ident({schema_name})) AND relname = ANY ({names})
)
SELECT format('%s belongs to %I', name, pg_get_userbyid(relowner)),
       CASE WHEN relkind = 'S' THEN format('ALTER SEQUENCE %s OWNER TO %I', name, current_user)
            WHEN relkind IN ('v', 'm') THEN format('DROP %s %s', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END, name)
            ELSE format('ALTER %s %s RENAME TO %I', CASE relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, name,
                        left(concat('not_ours_', relname), 63)) END
FROM ours
WHERE NOT pg_has_role(relowner, current_user, 'MEMBER') AND relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
UNION ALL
-- What is no table takes the name from one.
SELECT format('%s is an index of %I', name, pg_get_userbyid(relowner)), format('ALTER INDEX %s RENAME TO %I', name, relname || '_theirs')
FROM ours
WHERE NOT pg_has_role(relowner, current_user, 'MEMBER') AND relkind IN ('i', 'I')
UNION ALL
SELECT format('%s is a type of %I', type.oid::regtype, pg_get_userbyid(typowner)),
       format('ALTER TYPE %s RENAME TO %I', type.oid::regtype, typname || '_theirs')
FROM pg_type AS type
LEFT JOIN pg_class AS row ON row.oid = typrelid
WHERE typnamespace = to_regnamespace(quote_ident({schema_name})) AND typname = ANY ({names}) AND (typrelid = 0 OR row.relkind = 'c')
  AND NOT pg_has_role(typowner, current_user, 'MEMBER')
UNION ALL
SELECT format('%s has a trigger %I', ours.name, made.tgname), format('DROP TRIGGER %I ON %s', made.tgname, ours.name)
FROM ours
JOIN pg_trigger AS made ON made.tgrelid = ours.oid AND NOT made.tgisinternal
JOIN pg_proc AS function ON function.oid = made.tgfoid
-- A function of ours does harm as well, where it was not made for.
WHERE NOT (function.pronamespace = to_regnamespace(quote_ident({schema_name})) AND function.proname = ANY ({functions})
           AND format('%s %s', ours.relname, made.tgname) = ANY ({triggers}))
UNION ALL
SELECT format('%s has a rule %I', ours.name, rule.rulename), format('DROP RULE %I ON %s', rule.rulename, ours.name)
FROM ours
JOIN pg_rewrite AS rule ON rule.ev_class = ours.oid AND NOT (ours.relkind IN ('v', 'm') AND rule.rulename = '_RETURN')
UNION ALL
SELECT format('%s belongs to %I', function.oid::regprocedure, pg_get_userbyid(function.proowner)),
       -- What triggers or a view call cannot be dropped, and is made anew.
       CASE WHEN EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_proc'::regclass AND refobjid = function.oid)
            THEN format('ALTER ROUTINE %s OWNER TO %I', function.oid::regprocedure, current_user)
            ELSE format('DROP ROUTINE %s', function.oid::regprocedure) END
FROM pg_proc AS function
WHERE pronamespace = to_regnamespace(quote_ident({schema_name})) AND (function.proname = ANY ({functions}) OR function.proname ~ {generated})
  AND NOT pg_has_role(function.proowner, current_user, 'MEMBER')
UNION ALL
SELECT format('the publication %I belongs to %I', pubname, pg_get_userbyid(pubowner)), format('DROP PUBLICATION %I', pubname)
FROM pg_publication
WHERE pubname = ANY ({publications}) AND NOT pg_has_role(pubowner, current_user, 'MEMBER')
ORDER BY 1
