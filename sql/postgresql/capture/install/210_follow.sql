-- Brings what is recorded of a watched table up to what it is now, and sends an ALTER if that is something else. The
-- layout's key comes first: images of the new shape, and the command itself, are read by it (R7). Rows that came or went
-- with the table, and fired no trigger, are put into the stream after that (R9). Where a type of a user is another one, rows are
-- that were not written, and nobody can carry that; but for a statement of ours, which does the same on every slave. A table whose
-- last column went counts as dropped, until it has one again: an image lists columns.
CREATE OR REPLACE FUNCTION {follow}(relation oid, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $follow$
DECLARE
    known    {current_tables};
    entry    {tables};
    now      jsonb := {table_definition}(relation::oid);
    parts    oid[] := {partitions}(relation::oid);
    actions  text;
    again    boolean;
    reached  jsonb := {types_reached}(relation::oid);
    altered  text;
    unread   oid[];
BEGIN
    SELECT * INTO known FROM {current_tables} AS was WHERE was.relid = relation;
    IF NOT FOUND THEN
        -- It was added to the registry, and is not taken up yet.
        RETURN;
    END IF;
    SELECT * INTO STRICT entry FROM {tables} AS registered WHERE registered.relid = relation;
    IF now IS NULL THEN
        PERFORM {release_table}(relation::oid, entry.trigger_name::text), {forget}(relation::oid, statement::text);
        RETURN;
    END IF;
    actions := coalesce(entry.actions, 'IUD');
    again := actions LIKE '%U%' AND (parts || relation) && {noted}('rewritten'::text);
    -- Partitions that were dropped, and whose rows nobody had read before, stay among those that are known: the publisher's next
    -- look finds them missing, and sends the whole table. All else of the table is recorded meanwhile.
    unread := ARRAY(
        SELECT leaf FROM unnest(known.partitions) AS leaf
        WHERE actions LIKE '%D%' AND leaf <> ALL (parts || {noted}('dropping'::text))
          AND NOT EXISTS (SELECT FROM pg_class WHERE oid = leaf));
    IF unread <> '{{ }}' THEN
        RAISE WARNING 'the rows of a dropped partition of % were not read before; all rows of that table are sent again',
            relation::regclass;
        INSERT INTO {notes} (note, relid) VALUES ('unrecorded', relation);
    END IF;
    PERFORM {partitions_left}(
        relation::oid, ARRAY(SELECT unnest(known.partitions) EXCEPT SELECT unnest(parts || unread))::oid[], statement::text);
    PERFORM {partitions_join}(
        relation::oid, ARRAY(SELECT unnest(parts) EXCEPT SELECT unnest(known.partitions))::oid[], statement::text);
    IF {record_layout}(relation::oid) > 0 AND actions <> '' THEN
        PERFORM {capture_function}(relation::oid, entry.debug::integer);
        PERFORM {capture_commit}(relation::oid, entry.trigger_name::text);
    END IF;
    IF actions <> '' THEN
        PERFORM {capture_log}(relation::oid);
    END IF;
    IF known.definition <> now THEN
        -- The name may still be that of an entry whose table was renamed or dropped as well: its own turn comes.
        UPDATE {tables} AS other SET tablename = format('(%s)', other.relid)
        WHERE (other.schemaname, other.tablename) = (now ->> 'schema', now ->> 'table') AND other.relid <> relation;
        DELETE FROM {tables} AS other
        WHERE (other.schemaname, other.tablename, other.status) = (now ->> 'schema', now ->> 'table', 'WANTED');
        UPDATE {tables} AS registered SET schemaname = now ->> 'schema', tablename = now ->> 'table'
        WHERE registered.relid = relation;
        PERFORM {list_wanted}(known.schemaname::text, known.relname::text);
        PERFORM {command}(
            'A'::"char", relation::oid, known.definition::jsonb,
            {described}(relation::oid, known.definition::jsonb, now::jsonb, again::boolean)::jsonb, statement::text);
    END IF;
    UPDATE {current_tables} AS was
    SET schemaname = now ->> 'schema', relname = now ->> 'table', definition = now,
        partitions = ARRAY(SELECT unnest(parts || unread) ORDER BY 1),
        clones = {clones}(relation::oid), types = reached
    WHERE was.relid = relation;
    IF actions LIKE '%I%' THEN
        PERFORM {capture_rows}(leaf::oid, 'I'::"char", relation::oid) FROM unnest(parts) AS leaf WHERE leaf <> ALL (known.partitions);
    END IF;
    IF actions LIKE '%D%' THEN
        PERFORM {capture_partitions}(relation::oid, entry.trigger_name::text);
    END IF;
    IF actions <> '' AND {noted}('issued'::text) = '{{ }}' THEN
        altered := {types_altered}(known.types::jsonb, reached::jsonb);
    END IF;
    IF altered IS NOT NULL THEN
        RAISE WARNING 'rows of % became others with the type %, which no replication carries', relation::regclass, altered;
    END IF;
    UPDATE {tables} AS registered SET status = 'LOST'
    WHERE registered.relid = relation AND registered.status = 'OK'
      AND (altered IS NOT NULL OR registered.relid IN (SELECT {silenced}()));
END
$follow$
