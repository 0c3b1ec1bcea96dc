-- Runs before a table is written anew by an ALTER that computes values: what it computes fires no trigger (R9), so the
-- table is noted, and its rows are read again when the statement is done.
CREATE OR REPLACE FUNCTION {rewritten}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $rewritten$
DECLARE
    relation oid := pg_event_trigger_table_rewrite_oid();
BEGIN
    -- 2: a default for each row; 4: another type. The others (persistence, access method) keep every value, but nobody can
    -- tell afterwards which one a column got that comes with the same ALTER.
    IF pg_event_trigger_table_rewrite_reason() & 6 <> 0 OR EXISTS (
        SELECT FROM {current_tables} AS known
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.atthasmissing
        WHERE relation = ANY (known.partitions || known.relid)
          AND NOT EXISTS (
            SELECT FROM jsonb_to_recordset(known.definition -> 'columns') AS was (name text) WHERE was.name = a.attname))
    THEN
        INSERT INTO {notes} (note, relid) VALUES ('rewritten', relation);
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what changed could not be recorded for replication: %', SQLERRM;
END
$rewritten$
