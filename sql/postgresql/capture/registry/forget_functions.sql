-- Of the functions that tables have left which are gone, and that no trigger calls, the newest hundred stay.
DO $forget_functions$
DECLARE
    idle regprocedure;
BEGIN
    FOR idle IN
        SELECT made.oid
        FROM pg_proc AS made
        JOIN pg_namespace AS namespace ON namespace.oid = made.pronamespace AND namespace.nspname = {schema_name}
        WHERE starts_with(made.proname, {capture_name}) AND substr(made.proname, length({capture_name}) + 1) ~ '^[0-9]+$'
          AND NOT EXISTS (SELECT FROM pg_class AS class WHERE {capture_name} || class.oid = made.proname)
          AND NOT EXISTS (SELECT FROM pg_trigger AS calling WHERE calling.tgfoid = made.oid)
        ORDER BY age(made.xmin)
        OFFSET 100
    LOOP
        BEGIN
            EXECUTE format('DROP FUNCTION %s', idle);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '% stays: %', idle, SQLERRM;
        END;
    END LOOP;
END
$forget_functions$
