-- Gives a table the triggers that record its changes, or makes them again, with their function. ALWAYS: sessions with
-- session_replication_role = replica change rows too (R9).
CREATE OR REPLACE FUNCTION {capture_table}(relation oid, actions text, trigger_name text, debug integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_table$
DECLARE
    target   text := relation::regclass;
    function text;
    events   text := array_to_string(ARRAY[
        CASE WHEN strpos(actions, 'I') > 0 THEN 'INSERT' END,
        CASE WHEN strpos(actions, 'U') > 0 THEN 'UPDATE' END,
        CASE WHEN strpos(actions, 'D') > 0 THEN 'DELETE' END], ' OR ');
BEGIN
    PERFORM {record_layout}(relation::oid);
    IF events = '' THEN
        RETURN;
    END IF;
    function := {capture_function}(relation::oid, debug::integer);
    EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER %s ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                   trigger_name, events, target, function);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, trigger_name);
    IF strpos(actions, 'D') > 0 THEN
        EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
                       trigger_name || '_t', target, function);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, trigger_name || '_t');
        PERFORM {capture_partitions}(relation::oid, trigger_name::text);
    END IF;
    PERFORM {capture_commit}(relation::oid, trigger_name::text);
    UPDATE {current_tables} AS known SET clones = {clones}(relation::oid) WHERE known.relid = relation;
END
$capture_table$
