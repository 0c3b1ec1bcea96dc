-- A watched table is gone: its DROP goes into the stream, and it is watched no more. One that the configuration names is watched
-- again when it is made again. A dump of the table has our triggers: that it can be restored, their function stays, and does nothing.
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
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS %L', function, 'BEGIN RETURN NULL; END');
    END IF;
END
$forget$
