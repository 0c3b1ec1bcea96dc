-- The images of a change whose rows are long as text. A row that is longer than the configuration allows is not captured: it is many
-- times as long here as in its table, and would hold up all others. Nor can the server keep 1 GB, be it in both images together. An
-- update that left the key goes without its old row, if that does not fit. If nothing fits, there is no image: the
-- slaves then do without this table until they are filled again. The application's statement does not fail for it (R9).
-- Printed under the settings of the trigger function that calls it.
CREATE OR REPLACE FUNCTION {long_images}(
    relation oid, brought record, took record, key_stays boolean, OUT content text, OUT oldcontent text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $long_images$
DECLARE
    -- Room is left for the rest of the row, and for the few characters that are two where it is read.
    together CONSTANT integer := 1000000000;
    longest  bigint;
BEGIN
    longest := least((SELECT max_row_bytes FROM {settings}), together);
    content := textin(record_out(brought));
    IF octet_length(content) > longest THEN
        RAISE program_limit_exceeded USING MESSAGE =
            format('its row has %s MB as text, and may have %s', octet_length(content) / 1000000, longest / 1000000);
    END IF;
    BEGIN
        oldcontent := textin(record_out(took));
        IF octet_length(oldcontent) > least(longest, together - coalesce(octet_length(content), 0)) THEN
            RAISE program_limit_exceeded USING MESSAGE =
                format('its old row has %s MB as text, and may have %s', octet_length(oldcontent) / 1000000, longest / 1000000);
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
END
$long_images$
