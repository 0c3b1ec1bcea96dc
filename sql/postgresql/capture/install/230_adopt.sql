-- Watches a table that is wanted and not watched yet: triggers, a CREATE in the stream, and the rows that were put in before
-- the triggers were there, as inserts. Nothing happens to a table that is not wanted. A name stands for any table but a
-- partition of one that is watched, whose rows arrive with that; a wildcard takes some, and not without detection. Of an
-- unlogged table the server's log says nothing.
CREATE OR REPLACE FUNCTION {adopt}(relation oid, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $adopt$
DECLARE
    entry  {wanted};
    name   record;
    called text;
BEGIN
    SELECT namespace.nspname AS schemaname, class.relname INTO name
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE class.oid = relation AND class.relkind IN ('r', 'p') AND class.relpersistence <> 't'
      AND NOT (class.relpersistence = 'u' AND coalesce((SELECT by_log FROM {settings}), false));
    SELECT * INTO entry FROM {wants}(name.schemaname::text, name.relname::text);
    IF entry IS NULL
        OR {table_definition}(relation::oid) IS NULL
        OR entry.wildcard AND NOT (SELECT detection FROM {settings})
        OR entry.wildcard AND NOT EXISTS (SELECT FROM ({eligible}) AS living WHERE living.relid = relation)
        OR EXISTS (SELECT FROM pg_partition_ancestors(relation) AS above (relid) JOIN {tables} AS whole USING (relid))
    THEN
        RETURN;
    END IF;
    called := coalesce(entry.trigger_name, {trigger_name} || relation);
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = called) THEN
        RAISE EXCEPTION 'there is a trigger % already', called;
    END IF;
    DELETE FROM {tables} AS listed
    WHERE (listed.schemaname, listed.tablename, listed.status) = (name.schemaname, name.relname, 'WANTED');
    INSERT INTO {tables} (schemaname, tablename, actions, repl_key, trigger_name, debug, relid, old_images)
    VALUES (name.schemaname, name.relname, entry.actions, nextval({seq_name}::regclass), called, entry.debug, relation,
            entry.old_images);
    PERFORM {capture_table}(relation::oid, entry.actions::text, called::text, entry.debug::integer);
    INSERT INTO {current_tables} (relid, schemaname, relname, definition, partitions, clones, types)
    VALUES (relation, name.schemaname, name.relname, {table_definition}(relation::oid), {partitions}(relation::oid),
            {clones}(relation::oid), {types_reached}(relation::oid));
    UPDATE {tables} SET status = 'OK' WHERE relid = relation;
    PERFORM {command}(
        'N'::"char", relation::oid, NULL::jsonb,
        {described}(relation::oid, NULL::jsonb, {table_definition}(relation::oid)::jsonb, false)::jsonb, statement::text);
    IF (SELECT initial_content FROM {settings}) THEN
        PERFORM {capture_rows}(relation::oid, 'I'::"char", relation::oid);
    END IF;
END
$adopt$
