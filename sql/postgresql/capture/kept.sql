-- Runs after a DROP TABLE: partitions that it named, but did not drop, have kept their rows.
CREATE OR REPLACE FUNCTION {kept}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $kept$
BEGIN
    IF {noted}('dropping') <> '{{ }}' THEN
        DELETE FROM {queue}
        WHERE trans_key = pg_current_xact_id()
          AND repl_key > current_setting({note_name} || 'dropping_from')::bigint
          AND relid IN (SELECT class.oid FROM pg_class AS class WHERE class.oid = ANY ({noted}('dropping')));
        PERFORM set_config({note_name} || 'dropping', '', true);
    END IF;
END
$kept$
