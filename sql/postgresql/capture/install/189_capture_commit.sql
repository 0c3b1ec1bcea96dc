-- The triggers that have a transaction's last key drawn, where constraints may be checked at commit (R1): one of the table, which
-- partitions get from it, or else one of each partition that has such a constraint for itself, where no other is locked.
-- Their names sort behind those of the constraints' own checks, which may wait: Unique_ConstraintTrigger_... Where partitions would
-- get one of that name from a table above, it makes way.
CREATE OR REPLACE FUNCTION {capture_commit}(relation oid, trigger_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_commit$
DECLARE
    late   oid[] := ARRAY(SELECT {checked_late}(relation::oid));
    called text := 'W_' || trigger_name;
    mark   regprocedure := {mark_function_name};
    target regclass;
BEGIN
    -- The server's log has transactions in the order of their commits.
    IF coalesce((SELECT by_log FROM {settings}), false) THEN
        RETURN;
    END IF;
    IF relation = ANY (late) THEN
        late := ARRAY[relation];
        IF EXISTS (SELECT FROM {code_of_others}(relation::oid) WHERE is_key) THEN
            RAISE WARNING 'no trigger of % can be made: its partition key calls code of others', relation::regclass;
            UPDATE {tables} AS entry SET status = 'LOST' WHERE entry.status = 'OK' AND entry.relid = relation;
            RETURN;
        END IF;
    END IF;
    FOR target IN
        SELECT tgrelid FROM pg_trigger
        WHERE late <> '{{ }}' AND tgrelid <> ALL (late) AND tgrelid IN (SELECT {tree}(relation::oid))
          AND tgname = called AND tgparentid = 0 AND (tgfoid <> mark OR late = ARRAY[relation])
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', called, target);
    END LOOP;
    FOREACH target IN ARRAY late LOOP
        IF NOT EXISTS (
            SELECT FROM pg_trigger AS there
            WHERE tgrelid = target AND tgname = called AND tgfoid = mark AND {fires}(there::pg_trigger, 29::integer))
        THEN
            PERFORM {put_trigger}(
                target::regclass, called::text, 'AFTER INSERT OR UPDATE OR DELETE'::text, 'ROW'::text, mark::regprocedure);
        END IF;
    END LOOP;
END
$capture_commit$
