DO $unpublish$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT pubname FROM pg_publication WHERE pubname IN ({rows_name}, {commands_name}) LOOP
        EXECUTE format('DROP PUBLICATION %I', one.pubname);
    END LOOP;
END
$unpublish$
