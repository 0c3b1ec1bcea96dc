-- A watched table is gone: its DROP goes into the stream, it is watched no more, and its function goes with it.
CREATE OR REPLACE FUNCTION {forget}(relation oid, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $forget$
DECLARE
    function text := format('%I.%I', {schema_name}, {capture_name} || relation);
BEGIN
    PERFORM {command}('X', relation, known.definition, NULL, statement) FROM {current_tables} AS known
    WHERE known.relid = relation;
    DELETE FROM {current_tables} AS known WHERE known.relid = relation;
    DELETE FROM {tables} AS entry WHERE entry.relid = relation;
    IF to_regproc(function) IS NOT NULL THEN
        BEGIN
            EXECUTE format('DROP FUNCTION %s()', function);
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RAISE NOTICE '% is called by somebody else, and stays', function;
        END;
    END IF;
END
$forget$
