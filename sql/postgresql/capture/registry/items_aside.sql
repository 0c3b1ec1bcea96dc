-- ITEMS without the queue, one of whose columns is to get another type. The view that follows takes its place: who may read
-- it, and what others made of it, stays.
CREATE OR REPLACE VIEW {items} AS
SELECT NULL::bigint AS repl_key, NULL::text AS trans_key, NULL::text COLLATE "C" AS dbid, tablename, NULL::text AS guid,
       NULL::text AS db_action, NULL::text AS db_catalog, schemaname AS db_schema, NULL::text AS content,
       NULL::text AS oldcontent, NULL::text AS version
FROM {layouts}
