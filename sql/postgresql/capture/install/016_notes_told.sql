-- Notes have no key; where somebody publishes all tables of the database, they could not be deleted without this.
DO $told$
BEGIN
    IF (SELECT relreplident FROM pg_catalog.pg_class WHERE oid = {notes_name}::pg_catalog.regclass) <> 'f' THEN
        ALTER TABLE {notes} REPLICA IDENTITY FULL;
    END IF;
END
$told$
