-- Draws a transaction's last key at its commit, after every deferred check it may have waited in (R1). What waits for the commit
-- is a note of ours: a table with triggers that wait can neither be altered nor emptied in its transaction (R9). A transaction has
-- one such note, made by the first row of a table whose constraints may wait. Whether it is there is asked of the notes alone:
-- a setting could be written by any session. When the note's turn comes, checks that rows of later statements wait for may be
-- still to come. So it is replaced by a second one, whose turn comes behind all that wait by then, and that draws the key: at the
-- commit, also where the application has all constraints checked before. Who changes such a table after that, in a trigger that
-- waited as well, makes a note anew.
CREATE OR REPLACE FUNCTION {mark_function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mark$
BEGIN
    IF TG_RELID <> {notes_name}::regclass THEN
        INSERT INTO {notes} (note, relid) VALUES ('waits', TG_RELID) ON CONFLICT DO NOTHING;
        RETURN NULL;
    END IF;
    DELETE FROM {notes} WHERE ctid = NEW.ctid;
    IF NEW.repl_key IS NULL THEN
        SET CONSTRAINTS {mark} DEFERRED;
        INSERT INTO {notes} (note, relid, repl_key) VALUES (NEW.note, NEW.relid, 0);
    ELSE
        INSERT INTO {queue} (repl_key, relid, db_action) VALUES (nextval({seq_name}::regclass), NEW.relid, 'C');
    END IF;
    RETURN NULL;
END
$mark$
