-- What is read from the server's log: rows of watched tables, which are added to it one by one, and what is written into the
-- queue and of layouts, which stands at its place among them. Publications that are ours are put right if somebody altered
-- them; one of somebody else, made since we looked whose they are, fails this.
DO $publications$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = {rows_name} AND pg_has_role(pubowner, current_user, 'MEMBER')) THEN
        EXECUTE format('CREATE PUBLICATION %I WITH (publish = ''insert, update, delete'')', {rows_name});
        IF current_setting('server_version_num')::integer >= 180000 THEN
            EXECUTE format('ALTER PUBLICATION %I SET (publish_generated_columns = stored)', {rows_name});
        END IF;
    ELSIF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = {rows_name} AND pubinsert AND pubupdate AND pubdelete) THEN
        EXECUTE format('ALTER PUBLICATION %I SET (publish = ''insert, update, delete'')', {rows_name});
    END IF;
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = {commands_name} AND pg_has_role(pubowner, current_user, 'MEMBER')) THEN
        EXECUTE format('CREATE PUBLICATION %I FOR TABLE ONLY %s, ONLY %s WITH (publish = ''insert'')', {commands_name},
                       {queue_name}, {layouts_name});
    ELSIF (
        SELECT count(*) FROM pg_publication_rel AS listed
        JOIN pg_publication AS publication ON publication.oid = listed.prpubid
        WHERE publication.pubname = {commands_name} AND publication.pubinsert AND listed.prqual IS NULL
          AND listed.prattrs IS NULL AND listed.prrelid IN ({queue_name}::regclass, {layouts_name}::regclass)) < 2
    THEN
        EXECUTE format('ALTER PUBLICATION %I SET (publish = ''insert'')', {commands_name});
        EXECUTE format('ALTER PUBLICATION %I SET TABLE ONLY %s, ONLY %s', {commands_name}, {queue_name}, {layouts_name});
    END IF;
END
$publications$
