-- The images of a change whose rows may be printed as more than 1 GB, which the server cannot keep: neither one of them nor
-- both in one row of the queue. An update that left the key says what the row is now, if it cannot say as well what it was. What
-- cannot be said at all is lost, and told to the slaves: the application's statement does not fail for it (R9).
-- Printed under the settings of the trigger function that calls it.
CREATE OR REPLACE FUNCTION {long_images}(
    relation oid, brought record, took record, key_stays boolean, OUT content text, OUT oldcontent text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $long_images$
DECLARE
    -- Room is left for the rest of the row, and for the few characters that are two where it is read.
    longest CONSTANT integer := 1000000000;
BEGIN
    content := textin(record_out(brought));
    IF octet_length(content) > longest THEN
        RAISE program_limit_exceeded USING MESSAGE = 'its row is too long';
    END IF;
    BEGIN
        oldcontent := textin(record_out(took));
        IF octet_length(oldcontent) > longest - coalesce(octet_length(content), 0) THEN
            RAISE program_limit_exceeded USING MESSAGE = 'its rows are too long';
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF key_stays IS NOT TRUE THEN
            RAISE;
        END IF;
        oldcontent := NULL;
    END;
EXCEPTION WHEN OTHERS THEN
    content := NULL;
    oldcontent := NULL;
    RAISE WARNING 'a change of % could not be recorded for replication: %', relation::regclass, SQLERRM;
    UPDATE {tables} AS entry SET status = 'LOST' WHERE entry.status = 'OK' AND entry.relid = relation;
END
$long_images$
