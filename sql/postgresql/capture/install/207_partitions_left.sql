-- Partitions that a table has no more: the rows of one that was detached are gone from the table; it may be wanted as a
-- table of its own now. Those of one that was dropped were put into the stream before it went, as the caller knows. Triggers
-- stay on one that somebody reads meanwhile, if the caller does not wait for that: they do nothing there. Where the whole table
-- follows, nothing is deleted before: what left may have other columns by now (R7).
CREATE OR REPLACE FUNCTION {partitions_left}(relation oid, gone oid[], statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $partitions_left$
DECLARE
    entry   {tables};
    leaf    oid;
    deletes boolean;
    follows boolean;
BEGIN
    SELECT * INTO STRICT entry FROM {tables} AS registered WHERE registered.relid = relation;
    deletes := coalesce(entry.actions, 'IUD') LIKE '%D%';
    follows := coalesce(entry.actions, 'IUD') LIKE '%U%' AND relation = ANY ({noted}('rewritten'::text));
    FOREACH leaf IN ARRAY gone LOOP
        IF EXISTS (SELECT FROM pg_class WHERE oid = leaf) THEN
            BEGIN
                PERFORM {release_table}(leaf::oid, entry.trigger_name::text);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
            IF deletes AND NOT follows THEN
                PERFORM {capture_rows}(leaf::oid, 'D'::"char", relation::oid);
            END IF;
            PERFORM {adopt}(leaf::oid, statement::text);
        END IF;
    END LOOP;
END
$partitions_left$
