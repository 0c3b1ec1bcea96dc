-- Table 2.1 of the guide, as a view: whoever selects from it sees the guide's columns and its literals.
CREATE OR REPLACE VIEW {items} AS
SELECT
    queue.repl_key,
    queue.trans_key::text AS trans_key,
    {dbid}::text COLLATE "C" AS dbid,
    layout.tablename,
    NULL::text AS guid,
    CASE queue.db_action::pg_catalog."char"
        WHEN 'I' THEN 'INSERT' WHEN 'U' THEN 'UPDATE' WHEN 'D' THEN 'DELETE' WHEN 'T' THEN 'TRUNCATE'
        WHEN 'N' THEN 'CREATE' WHEN 'A' THEN 'ALTER' WHEN 'X' THEN 'DROP' WHEN 'S' THEN 'STATEMENT' ELSE 'COMMIT'
    END AS db_action,
    NULL::text AS db_catalog,
    layout.schemaname AS db_schema,
    CASE WHEN queue.db_action::pg_catalog."char" IN ('N', 'A', 'X', 'S') THEN queue.content
         ELSE {col2xml}(layout.columns::jsonb, queue.content::text) END AS content,
    {col2xml}(layout.columns::jsonb, queue.oldcontent::text) AS oldcontent,
    {version}::text AS version
FROM {queue} AS queue
LEFT JOIN LATERAL (
    SELECT layouts.schemaname, layouts.tablename, layouts.columns
    FROM {layouts} AS layouts
    WHERE layouts.relid = queue.relid AND layouts.repl_key <= queue.repl_key
    ORDER BY layouts.repl_key DESC
    LIMIT 1
) AS layout ON true
