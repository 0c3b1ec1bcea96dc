-- Runs before a table is written anew by an ALTER that computes values: what it computes fires no trigger (R9), so the
-- table is noted, and its rows are read again when the statement is done.
CREATE OR REPLACE FUNCTION {rewritten}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $rewritten$
BEGIN
    -- 2: a default for each row; 4: another type. The others (persistence, access method) keep every value.
    IF pg_event_trigger_table_rewrite_reason() & 6 <> 0 THEN
        INSERT INTO {notes} (note, relid) VALUES ('rewritten', pg_event_trigger_table_rewrite_oid());
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what changed could not be recorded for replication: %', SQLERRM;
END
$rewritten$
