-- A watched table is gone: its DROP goes into the stream, it is watched no more, and its function goes with it. One that the
-- configuration names is watched again when it is made again.
CREATE OR REPLACE FUNCTION {forget}(relation oid, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $forget$
DECLARE
    known    {current_tables};
    function text := format('%I.%I', {schema_name}, {capture_name} || relation);
BEGIN
    DELETE FROM {current_tables} AS was WHERE was.relid = relation RETURNING * INTO known;
    PERFORM {command}('X'::"char", relation::oid, known.definition::jsonb, NULL::jsonb, statement::text)
    WHERE known.relid IS NOT NULL;
    DELETE FROM {tables} AS entry WHERE entry.relid = relation;
    PERFORM {list_wanted}(known.schemaname::text, known.relname::text);
    IF to_regprocedure(function || '()') IS NOT NULL THEN
        BEGIN
            EXECUTE format('DROP FUNCTION %s()', function);
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RAISE NOTICE '% is called by somebody else, and stays', function;
        END;
    END IF;
END
$forget$
