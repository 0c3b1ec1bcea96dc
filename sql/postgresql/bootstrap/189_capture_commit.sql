-- The trigger that draws a transaction's last key, for a table whose constraints may be checked at commit (R1).
CREATE OR REPLACE FUNCTION {capture_commit}(relation oid, trigger_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_commit$
DECLARE
    target text := relation::regclass;
BEGIN
    IF NOT (SELECT deferred FROM {current_layout}(relation)) THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = trigger_name || '_c') THEN
        EXECUTE format('CREATE CONSTRAINT TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s DEFERRABLE INITIALLY DEFERRED ',
                       trigger_name || '_c', target) || $mark$FOR EACH ROW EXECUTE FUNCTION {mark_function}()$mark$;
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, trigger_name || '_c');
END
$capture_commit$
