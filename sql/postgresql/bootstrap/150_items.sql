-- Table 2.1 of the guide, as a view: whoever selects from it sees the seed's columns and its literals.
CREATE OR REPLACE VIEW {items} AS
SELECT
    queue.repl_key,
    queue.trans_key::text AS trans_key,
    current_database()::text AS dbid,
    layout.tablename,
    NULL::text AS guid,
    CASE queue.db_action
        WHEN 'I' THEN 'INSERT' WHEN 'U' THEN 'UPDATE' WHEN 'D' THEN 'DELETE' WHEN 'T' THEN 'TRUNCATE' ELSE 'COMMIT'
    END AS db_action,
    NULL::text AS db_catalog,
    layout.schemaname AS db_schema,
    {col2xml}(layout.columns, queue.content) AS content,
    {col2xml}(layout.columns, queue.oldcontent) AS oldcontent,
    '0.0'::text AS version
FROM {queue} AS queue
LEFT JOIN LATERAL (
    SELECT layouts.schemaname, layouts.tablename, layouts.columns
    FROM {layouts} AS layouts
    WHERE layouts.relid = queue.relid AND layouts.repl_key <= queue.repl_key
    ORDER BY layouts.repl_key DESC
    LIMIT 1
) AS layout ON true
