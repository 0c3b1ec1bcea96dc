-- Puts every row of a table into the stream, as if it were written at this place: I as inserted, D as deleted. The
-- caller's transaction holds the table against writers. The settings are those of the triggers (R7).
CREATE OR REPLACE FUNCTION {capture_rows}(relation oid, action "char") RETURNS void
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
        EXECUTE $insert$INSERT INTO {queue} (repl_key, relid, db_action, $insert$ || side || $insert$)
            SELECT nextval({seq_name}::regclass), $1, $2, textin(record_out(sluice_row.*)) FROM ONLY $insert$
            || leaf::regclass || ' AS sluice_row' USING leaf, action;
    END LOOP;
END
$capture_rows$
