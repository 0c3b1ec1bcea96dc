-- A watched table is gone: its DROP goes into the stream, and it is watched no more.
CREATE OR REPLACE FUNCTION {forget}(relation oid, statement text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $forget$
    SELECT {command}('X', relation, definition, NULL, statement) FROM {current_tables} WHERE relid = relation;
    DELETE FROM {current_tables} WHERE relid = relation;
    DELETE FROM {tables} WHERE relid = relation
$forget$
