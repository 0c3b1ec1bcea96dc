-- Makes a trigger of ours, or makes it again: one that fires in all sessions (R9). A trigger that bears its name and calls another
-- function, or is a constraint trigger, makes way: everybody who may make triggers could choose that name.
CREATE OR REPLACE FUNCTION {put_trigger}(target regclass, name text, moment text, each text, function regprocedure) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $put_trigger$
BEGIN
    IF EXISTS (
        SELECT FROM pg_trigger
        WHERE tgrelid = target AND tgname = name AND tgparentid = 0 AND (tgfoid <> function OR tgconstraint <> 0))
    THEN
        EXECUTE format('DROP TRIGGER %I ON %s', name, target);
    END IF;
    EXECUTE format(
        'CREATE OR REPLACE TRIGGER %I %s ON %s FOR EACH %s EXECUTE FUNCTION %s', name, moment, target, each, function);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, name);
END
$put_trigger$
