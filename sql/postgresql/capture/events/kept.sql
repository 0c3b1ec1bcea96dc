-- Runs after a DROP TABLE: partitions that it named, but did not drop, have kept their rows. Where changes are read from the
-- server's log, it has the deletes already, so the rows are inserted again.
CREATE OR REPLACE FUNCTION {kept}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $kept$
BEGIN
    IF {noted}('dropping'::text) <> '{{ }}' THEN
        IF EXISTS (SELECT FROM {log} WHERE phase IS DISTINCT FROM 'over') THEN
            INSERT INTO {queue} (repl_key, relid, db_action, content)
            SELECT nextval({seq_name}::regclass), change.relid, 'I', change.oldcontent
            FROM {queue} AS change
            JOIN {notes} AS noted USING (trans_key, relid)
            JOIN pg_class AS class ON class.oid = noted.relid
            WHERE noted.trans_key = pg_current_xact_id() AND noted.note = 'dropping' AND change.repl_key > noted.repl_key;
        ELSE
            PERFORM set_config('sluice.purge', 'on', true);
            DELETE FROM {queue} AS change
            USING {notes} AS noted
            JOIN pg_class AS class ON class.oid = noted.relid
            WHERE noted.trans_key = pg_current_xact_id() AND noted.note = 'dropping'
              AND change.trans_key = noted.trans_key AND change.repl_key > noted.repl_key AND change.relid = noted.relid;
            PERFORM set_config('sluice.purge', '', true);
        END IF;
        PERFORM {note}('dropping'::text, '{{ }}'::oid[]);
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'rows of a partition could not be recorded for replication: %', SQLERRM;
END
$kept$
