-- Which of these tables have code of others run when a query of them is planned, and which code that is. What is not there
-- is left out.
SELECT root.place, CASE WHEN class.relkind IN ('r', 'p') THEN 'the partition key of ' ELSE '' END
                   || pg_describe_object(found.class, found.object, 0),
       found.function::regprocedure::text, pg_get_userbyid(found.owner), coalesce(class.relkind IN ('r', 'p'), false)
FROM unnest({schemas}::text[], {tables}::text[]) WITH ORDINALITY AS root (schema, name, place)
-- Also where the role may not use the schema.
JOIN pg_namespace AS namespace ON namespace.nspname = root.schema
CROSS JOIN LATERAL (SELECT oid AS relid FROM pg_class WHERE relnamespace = namespace.oid AND relname = root.name) AS there
CROSS JOIN LATERAL ({planned_code}) AS found
LEFT JOIN pg_class AS class ON found.class = 'pg_class'::regclass AND class.oid = found.object
ORDER BY 1, 2, 3
