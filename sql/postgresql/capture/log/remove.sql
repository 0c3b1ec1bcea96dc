-- The tables' own replica identities, and what bears our names beside the DbResources.
DO $remove$
DECLARE
    one record;
BEGIN
    PERFORM {release_log}(relid::oid) FROM {tables} WHERE relid IS NOT NULL;
    PERFORM {release_log}(relid::oid) FROM {identities} AS known WHERE EXISTS (SELECT FROM pg_class WHERE oid = known.relid);
    FOR one IN SELECT pubname FROM pg_publication WHERE pubname IN ({rows_name}, {commands_name}) LOOP
        EXECUTE format('DROP PUBLICATION %I', one.pubname);
    END LOOP;
END
$remove$
