-- Takes a table out of what is read from the server's log, and gives it back the replica identity that it had.
CREATE OR REPLACE FUNCTION {release_log}(relation oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $release_log$
DECLARE
    had {identities};
    was oid[] := {noted}('installing'::text);
BEGIN
    -- Or the event triggers would see to it that all stays as it is.
    PERFORM {note}('installing'::text, ARRAY[relation]::oid[]);
    IF EXISTS (
        SELECT FROM pg_publication_rel AS listed
        JOIN pg_publication AS publication ON publication.oid = listed.prpubid
        WHERE publication.pubname = {rows_name} AND listed.prrelid = relation)
    THEN
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', {rows_name}, relation::regclass);
    END IF;
    FOR had IN
        DELETE FROM {identities} AS known WHERE known.relid = ANY ({partitions}(relation::oid) || relation) RETURNING *
    LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = had.relid AND relreplident = 'f');
        EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY %s', had.relid::regclass, CASE
            WHEN had.identity = 'n' THEN 'NOTHING'
            WHEN EXISTS (SELECT FROM pg_index WHERE indexrelid = had.index) THEN
                (SELECT format('USING INDEX %I', relname) FROM pg_class WHERE oid = had.index)
            ELSE 'DEFAULT' END);
    END LOOP;
    PERFORM {note}('installing'::text, was::oid[]);
END
$release_log$
