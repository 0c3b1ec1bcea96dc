-- Watches a table that the configuration wants and nobody watches yet: triggers, a CREATE in the stream, and the rows
-- that were put in before the triggers were there, as inserts. Nothing happens to a table that is not wanted.
CREATE OR REPLACE FUNCTION {adopt}(relation oid, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $adopt$
DECLARE
    entry  {wanted};
    name   record;
    called text;
BEGIN
    SELECT living.schemaname, living.relname INTO name FROM ({eligible}) AS living WHERE living.relid = relation;
    SELECT * INTO entry FROM {wants}(name.schemaname, name.relname);
    IF entry IS NULL OR NOT (SELECT detection FROM {settings}) THEN
        RETURN;
    END IF;
    called := coalesce(entry.trigger_name, {trigger_name} || relation);
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = called) THEN
        RAISE EXCEPTION 'there is a trigger % already', called;
    END IF;
    INSERT INTO {tables} (schemaname, tablename, actions, repl_key, trigger_name, debug, relid, old_images)
    VALUES (name.schemaname, name.relname, entry.actions, nextval({seq_name}::regclass), called, entry.debug, relation,
            entry.old_images);
    PERFORM {capture_table}(relation, entry.actions, called, entry.debug);
    INSERT INTO {current_tables} (relid, schemaname, relname, definition, partitions, clones)
    VALUES (relation, name.schemaname, name.relname, {table_definition}(relation), {partitions}(relation),
            {clones}(relation));
    UPDATE {tables} SET status = 'OK' WHERE relid = relation;
    PERFORM {command}(
        'N', relation, NULL, {described}(relation, NULL, {table_definition}(relation), false), statement);
    IF (SELECT initial_content FROM {settings}) THEN
        PERFORM {capture_rows}(relation, 'I');
    END IF;
END
$adopt$
