-- Runs after each ALTER: the columns of a watched table are recorded in the same transaction, before anybody can write
-- a row of the new shape. A failure here must not fail the user's statement (R9): the publisher compares the catalog
-- with the newest layout in each sweep, and stops rather than misread an image.
CREATE OR REPLACE FUNCTION {altered}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $altered$
DECLARE
    root oid;
BEGIN
    FOR root IN
        SELECT DISTINCT watched.relid
        FROM pg_event_trigger_ddl_commands() AS command
        JOIN (
            SELECT DISTINCT class.oid AS relid, class.relname, namespace.nspname
            FROM {tables} AS entry
            JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
            JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
        ) AS watched
          ON command.objid = watched.relid
          OR command.objid IN (SELECT relid FROM pg_partition_tree(watched.relid::regclass))
    LOOP
        PERFORM {record_layout}(root);
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'the new columns could not be recorded for replication: %', SQLERRM;
END
$altered$
