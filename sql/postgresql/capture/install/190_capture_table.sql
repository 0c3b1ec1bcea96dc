-- Gives a table the triggers that record its changes, or makes them again, with their function. Where changes of rows are read
-- from the server's log, a TRUNCATE still has its triggers.
CREATE OR REPLACE FUNCTION {capture_table}(relation oid, actions text, trigger_name text, debug integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_table$
DECLARE
    function regprocedure;
    events   text := array_to_string(ARRAY[
        CASE WHEN strpos(actions, 'I') > 0 THEN 'INSERT' END,
        CASE WHEN strpos(actions, 'U') > 0 THEN 'UPDATE' END,
        CASE WHEN strpos(actions, 'D') > 0 THEN 'DELETE' END], ' OR ');
    found    record;
BEGIN
    SELECT * INTO found FROM {code_of_others}(relation::oid) WHERE is_key LIMIT 1;
    IF found IS NOT NULL THEN
        RAISE EXCEPTION '% calls % of %, and no trigger can be made without running it', found.object, found.function, found.owner;
    END IF;
    PERFORM {record_layout}(relation::oid);
    IF events = '' THEN
        RETURN;
    END IF;
    function := {capture_function}(relation::oid, debug::integer) || '()';
    IF coalesce((SELECT by_log FROM {settings}), false) THEN
        PERFORM {capture_log}(relation::oid);
    ELSE
        PERFORM {put_trigger}(
            relation::regclass, trigger_name::text, ('AFTER ' || events)::text, 'ROW'::text, function::regprocedure);
    END IF;
    IF strpos(actions, 'D') > 0 THEN
        PERFORM {put_trigger}(
            relation::regclass, (trigger_name || '_t')::text, 'AFTER TRUNCATE'::text, 'STATEMENT'::text,
            function::regprocedure);
        PERFORM {capture_partitions}(relation::oid, trigger_name::text);
    END IF;
    PERFORM {capture_commit}(relation::oid, trigger_name::text);
    UPDATE {current_tables} AS known SET clones = {clones}(relation::oid) WHERE known.relid = relation;
END
$capture_table$
