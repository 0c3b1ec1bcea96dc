-- Gives a table of the registry that is CREATING its triggers, and makes it OK. Of a new one the rows that it has follow its
-- CREATE. One that was watched before may have lost changes if it does not fire: that is for who heals triggers (R9).
CREATE OR REPLACE FUNCTION {take_up}(relation oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $take_up$
DECLARE
    entry {tables};
    known boolean := EXISTS (SELECT FROM {current_tables} AS was WHERE was.relid = relation);
BEGIN
    SELECT * INTO STRICT entry FROM {tables} AS registered WHERE registered.relid = relation;
    IF known AND relation IN (SELECT {silenced}()) THEN
        UPDATE {tables} SET status = 'LOST' WHERE relid = relation;
        RETURN;
    END IF;
    PERFORM {release_table}(relation::oid, entry.trigger_name::text);
    PERFORM {capture_table}(
        relation::oid, rtrim(coalesce(entry.actions, 'IUD'))::text, entry.trigger_name::text, entry.debug::integer);
    UPDATE {tables} SET status = 'OK' WHERE relid = relation;
    IF NOT known THEN
        INSERT INTO {current_tables} (relid, schemaname, relname, definition, partitions, clones, types)
        VALUES (relation, entry.schemaname, entry.tablename, {table_definition}(relation::oid), {partitions}(relation::oid),
                {clones}(relation::oid), {types_reached}(relation::oid));
        IF (SELECT detection AND initial_content FROM {settings}) THEN
            PERFORM {capture_rows}(relation::oid, 'I'::"char", relation::oid);
        END IF;
    END IF;
END
$take_up$
