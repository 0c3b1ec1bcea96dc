-- A partition that was a watched table of its own is one no more: for the stream that table is dropped.
CREATE OR REPLACE FUNCTION {partitions_join}(relation oid, came oid[], statement text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $partitions_join$
    SELECT {release_table}(entry.relid::oid, entry.trigger_name::text), {forget}(entry.relid::oid, statement::text)
    FROM {tables} AS entry
    WHERE entry.relid = ANY (came)
$partitions_join$
