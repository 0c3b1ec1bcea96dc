-- Names as wide as the configuration wants them and as the server's identifiers may be; nothing is ever made narrower.
DO $widths$
DECLARE
    narrow record;
BEGIN
    FOR narrow IN
        SELECT live.attname, wide.width
        FROM pg_catalog.pg_attribute AS live
        JOIN (
            SELECT unnest(ARRAY['catalogname', 'schemaname', 'tablename', 'trigger_name']) AS name,
                   greatest({char_width}, current_setting('max_identifier_length')::integer) AS width
            UNION ALL
            SELECT 'status', {char_width_small}
        ) AS wide ON wide.name = live.attname
        WHERE live.attrelid = {tables_name}::pg_catalog.regclass AND live.atttypmod - 4 < wide.width
    LOOP
        -- It reads these columns, and is made again further on.
        DROP VIEW IF EXISTS {cols_view};
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE varchar(%s)', {tables_name}, narrow.attname, narrow.width);
    END LOOP;
END
$widths$
