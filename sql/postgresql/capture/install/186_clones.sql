-- The triggers that partitions have from their table: others, once one was detached and attached again. What was written to it
-- in between fired none of them (R9).
CREATE OR REPLACE FUNCTION {clones}(relation oid) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $clones$
    SELECT ARRAY(
        SELECT made.oid
        FROM {tables} AS entry
        JOIN pg_trigger AS made ON made.tgname = entry.trigger_name AND made.tgparentid <> 0
        JOIN pg_proc AS function ON function.oid = made.tgfoid AND function.proname = {capture_name} || relation
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace AND namespace.nspname = {schema_name}
        WHERE entry.relid = relation AND made.tgrelid = ANY ({partitions}(relation::oid))
        ORDER BY made.oid)
$clones$
