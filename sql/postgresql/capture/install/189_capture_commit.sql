-- The triggers that have a transaction's last key drawn, where constraints may be checked at commit (R1): one of the table, which
-- partitions get from it, or else one of each partition that has such a constraint for itself, where no other is locked.
-- Their names sort behind those of the constraints' own checks, which may wait: Unique_ConstraintTrigger_...
CREATE OR REPLACE FUNCTION {capture_commit}(relation oid, trigger_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_commit$
DECLARE
    late   oid[] := ARRAY(SELECT {checked_late}(relation::oid));
    called text := 'W_' || trigger_name;
    target regclass;
BEGIN
    IF relation = ANY (late) THEN
        IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = called) THEN
            FOR target IN
                SELECT tgrelid FROM pg_trigger WHERE tgrelid = ANY ({partitions}(relation::oid)) AND tgname = called
            LOOP
                EXECUTE format('DROP TRIGGER %I ON %s', called, target);
            END LOOP;
        END IF;
        late := ARRAY[relation];
    END IF;
    FOREACH target IN ARRAY late LOOP
        IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = called) THEN
            EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s ', called, target)
                || $mark$FOR EACH ROW EXECUTE FUNCTION {mark_function}()$mark$;
        END IF;
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, called);
    END LOOP;
END
$capture_commit$
