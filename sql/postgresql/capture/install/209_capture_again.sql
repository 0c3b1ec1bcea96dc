-- A table that was written anew with other values, of which no trigger heard, goes into the stream as a whole. Nothing
-- that others may have changed is written for that, so it does not fail where the definition cannot be recorded (R9).
CREATE OR REPLACE FUNCTION {capture_again}(relation oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_again$
BEGIN
    IF {noted}('rewritten'::text) && (
        SELECT {partitions}(relation::oid) || relation
        FROM {tables} AS entry
        JOIN {current_tables} AS known USING (relid)
        WHERE entry.relid = relation AND coalesce(entry.actions, 'IUD') LIKE '%U%')
    THEN
        INSERT INTO {queue} (repl_key, relid, db_action) VALUES (nextval({seq_name}::regclass), relation, 'T');
        PERFORM {capture_rows}(relation::oid, 'I'::"char", relation::oid);
    END IF;
END
$capture_again$
