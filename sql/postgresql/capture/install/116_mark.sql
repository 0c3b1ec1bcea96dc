-- The trigger that waits for the commit of a transaction whose own constraints may (R1).
DO $mark$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = {notes_name}::pg_catalog.regclass AND tgname = 'mark') THEN
        CREATE CONSTRAINT TRIGGER mark AFTER INSERT ON {notes} DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.note = 'waits') EXECUTE FUNCTION {mark_function}();
        ALTER TABLE {notes} ENABLE ALWAYS TRIGGER mark;
    END IF;
END
$mark$
