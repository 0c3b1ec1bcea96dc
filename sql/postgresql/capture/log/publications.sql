-- What is read from the server's log: rows of watched tables, which are added to it one by one, and what is written into the
-- queue and of layouts, which stands at its place among them.
DO $publications$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = {rows_name}) THEN
        EXECUTE format('CREATE PUBLICATION %I WITH (publish = ''insert, update, delete'')', {rows_name});
        IF current_setting('server_version_num')::integer >= 180000 THEN
            EXECUTE format('ALTER PUBLICATION %I SET (publish_generated_columns = stored)', {rows_name});
        END IF;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = {commands_name}) THEN
        EXECUTE format('CREATE PUBLICATION %I FOR TABLE ONLY %s, ONLY %s WITH (publish = ''insert'')', {commands_name},
                       {queue_name}, {layouts_name});
    END IF;
END
$publications$
