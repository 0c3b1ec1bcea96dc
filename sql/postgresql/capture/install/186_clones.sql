-- The triggers that partitions have from their table: others, once one was detached and attached again. What was written to it
-- in between fired none of them (R9).
CREATE OR REPLACE FUNCTION {clones}(relation oid) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $clones$
    SELECT ARRAY(
        SELECT made.oid
        FROM {tables} AS entry
        JOIN pg_trigger AS made ON made.tgname = entry.trigger_name AND made.tgparentid <> 0
        WHERE entry.relid = relation AND made.tgrelid = ANY ({partitions}(relation::oid))
        ORDER BY made.oid)
$clones$
