-- A TRUNCATE that names a partition reaches the stream as deletes of the rows it is about to take (R9). One that names
-- the whole table is one change, which the table's own trigger writes: meanwhile the partitions are told to be silent.
-- Whoever lets a trigger of a table of his own call this must not have us read it: that would run his code as ours.
-- Rows that we may not read must not fail the user's statement either: the next sweep tells the slaves.
CREATE OR REPLACE FUNCTION {truncating}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $truncating$
DECLARE
    whole oid[] := {noted}('truncating'::text);
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = TG_RELID) = 'p' THEN
        IF TG_RELID IN (SELECT relid FROM {tables}) THEN
            PERFORM {note}(
                'truncating'::text,
                (CASE TG_WHEN WHEN 'BEFORE' THEN whole || TG_RELID ELSE array_remove(whole, TG_RELID) END)::oid[]);
        END IF;
    ELSIF EXISTS (SELECT FROM pg_partition_ancestors(TG_RELID) JOIN {tables} USING (relid))
        AND NOT EXISTS (SELECT FROM pg_partition_ancestors(TG_RELID) WHERE relid = ANY (whole))
    THEN
        BEGIN
            PERFORM {capture_rows}(TG_RELID::oid, 'D'::"char", entry.relid::oid)
            FROM pg_partition_ancestors(TG_RELID) JOIN {tables} AS entry USING (relid);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', TG_RELID::regclass, SQLERRM;
            UPDATE {tables} AS entry SET status = 'LOST'
            WHERE entry.status = 'OK' AND entry.relid IN (SELECT relid FROM pg_partition_ancestors(TG_RELID));
        END;
    END IF;
    RETURN NULL;
END
$truncating$
