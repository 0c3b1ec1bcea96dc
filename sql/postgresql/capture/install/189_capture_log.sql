-- Has the server's log say all that happens to the rows of a table, where changes are read from that: with every value of the
-- old row, so that nothing is missing which a trigger would tell.
CREATE OR REPLACE FUNCTION {capture_log}(relation oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_log$
DECLARE
    member regclass;
    whole  boolean;
BEGIN
    IF NOT coalesce((SELECT by_log FROM {settings}), false) THEN
        RETURN;
    END IF;
    FOR member IN
        SELECT class.oid FROM pg_class AS class
        WHERE class.oid = ANY ({partitions}(relation::oid) || relation) AND class.relkind = 'r' AND class.relreplident <> 'f'
    LOOP
        INSERT INTO {identities} (relid, identity, index)
        SELECT class.oid, class.relreplident,
               (SELECT indexrelid FROM pg_index WHERE indrelid = class.oid AND indisreplident)
        FROM pg_class AS class
        WHERE class.oid = member
        ON CONFLICT (relid) DO NOTHING;
        EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY FULL', member);
    END LOOP;
    SELECT listed.prqual IS NULL AND listed.prattrs IS NULL INTO whole
    FROM pg_publication_rel AS listed
    JOIN pg_publication AS publication ON publication.oid = listed.prpubid
    WHERE publication.pubname = {rows_name} AND listed.prrelid = relation;
    -- Somebody may have left rows or columns of it out.
    IF NOT whole THEN
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', {rows_name}, relation::regclass);
    END IF;
    IF whole IS NOT TRUE THEN
        EXECUTE format('ALTER PUBLICATION %I ADD TABLE ONLY %s', {rows_name}, relation::regclass);
    END IF;
END
$capture_log$
