-- Puts every row of a table into the stream, as if it were written at this place: I as inserted, D as deleted. The
-- caller's transaction holds the table against writers. The settings are those of the triggers (R7). Rows that cannot be read without
-- running code of others are not read: then the watched table, `root`, is LOST.
CREATE OR REPLACE FUNCTION {capture_rows}(relation oid, action "char", root oid) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
{printed}
SET row_security = off
AS $capture_rows$
DECLARE
    leaf   oid;
    side   text := CASE action WHEN 'D' THEN 'oldcontent' ELSE 'content' END;
BEGIN
    FOREACH leaf IN ARRAY {partitions}(relation::oid) || ARRAY(SELECT oid FROM pg_class WHERE oid = relation AND relkind = 'r')
    LOOP
        BEGIN
            IF NOT {held}(leaf::oid) THEN
                RAISE SQLSTATE 'SL360' USING MESSAGE = 'its name is that of something else by now';
            END IF;
            CONTINUE WHEN pg_relation_size(leaf) = 0;
            EXECUTE $insert$INSERT INTO {queue} (repl_key, relid, db_action, $insert$ || side || $insert$)
                SELECT nextval({seq_name}::regclass), $1, $2, textin(record_out(sluice_row.*)) FROM ONLY $insert$
                || format('%s AS sluice_row WHERE {may_plan}(%L::oid)', leaf::regclass, leaf) USING leaf, action;
        EXCEPTION WHEN SQLSTATE 'SL360' THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', leaf::regclass, SQLERRM;
            UPDATE {tables} AS entry SET status = 'LOST' WHERE entry.status = 'OK' AND entry.relid = root;
        END;
    END LOOP;
END
$capture_rows$
