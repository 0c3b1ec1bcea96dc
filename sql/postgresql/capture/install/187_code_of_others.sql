-- What of a table, of its partitions and of the tables above would have code of others run, in whose plans it is (see the query). A
-- partition key is worked out also where somebody makes a row trigger of the table.
CREATE OR REPLACE FUNCTION {code_of_others}(relation oid, OUT object text, OUT function text, OUT owner text, OUT is_key boolean)
RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $code_of_others$
    SELECT CASE WHEN class.relkind IN ('r', 'p') THEN 'the partition key of ' ELSE '' END
               || pg_describe_object(found.class, found.object, 0),
           found.function::regprocedure::text, pg_get_userbyid(found.owner), coalesce(class.relkind IN ('r', 'p'), false)
    FROM ({planned_code}) AS found
    LEFT JOIN pg_class AS class ON found.class = 'pg_class'::regclass AND class.oid = found.object
$code_of_others$
