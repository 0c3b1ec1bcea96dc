-- Notes have no key; where somebody publishes all tables of the database, they could not be deleted without the first. The
-- second lets a transaction have one note that waits for its commit (see {mark_function}).
DO $told$
BEGIN
    IF (SELECT relreplident FROM pg_catalog.pg_class WHERE oid = {notes_name}::pg_catalog.regclass) <> 'f' THEN
        ALTER TABLE {notes} REPLICA IDENTITY FULL;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_index WHERE indrelid = {notes_name}::pg_catalog.regclass) THEN
        CREATE UNIQUE INDEX ON {notes} (trans_key) WHERE note = 'waits' AND repl_key IS NULL;
    END IF;
END
$told$
