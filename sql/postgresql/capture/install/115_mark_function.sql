-- Draws a transaction's last key at its commit, after every deferred check it may have waited in (R1). What waits for the commit
-- is a note of ours: a table with triggers that wait can neither be altered nor emptied in its transaction (R9). One note does for
-- a statement, whose command the rows bear that it writes, unless constraints are checked at once: then each draws a key.
CREATE OR REPLACE FUNCTION {mark_function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mark$
DECLARE
    command text;
BEGIN
    IF TG_RELID = {notes_name}::regclass THEN
        PERFORM set_config('sluice.waits', '', true);
        DELETE FROM {notes} WHERE ctid = NEW.ctid;
        INSERT INTO {queue} (repl_key, relid, db_action) VALUES (nextval({seq_name}::regclass), NEW.relid, 'C');
        RETURN NULL;
    END IF;
    -- Of a row that this transaction made before, or that somebody has locked, the command cannot be told.
    command := CASE WHEN TG_OP = 'DELETE' THEN CASE WHEN age(OLD.xmin) > 0 THEN OLD.cmax END
                    WHEN NEW.xmax = '0' THEN NEW.cmin END;
    IF command IS NULL OR command IS DISTINCT FROM current_setting('sluice.waits', true) THEN
        PERFORM set_config('sluice.waits', command, true);
        INSERT INTO {notes} (note, relid) VALUES ('waits', TG_RELID);
    END IF;
    RETURN NULL;
END
$mark$
