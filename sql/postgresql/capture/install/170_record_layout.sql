-- Records the columns of a watched table, and of its partitions, if they are not those recorded last. Returns how many
-- layouts were written. The key is drawn by the caller's transaction, which holds the table against writers.
CREATE OR REPLACE FUNCTION {record_layout}(root oid) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $record_layout$
    WITH now AS (
        SELECT tree.relid, namespace.nspname, class.relname, layout.*
        FROM {tree}(root::oid) AS tree (relid)
        CROSS JOIN (SELECT relname, relnamespace FROM pg_class WHERE oid = root) AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
        CROSS JOIN LATERAL {current_layout}(tree.relid::oid) AS layout
    ), written AS (
        INSERT INTO {layouts} (repl_key, relid, schemaname, tablename, columns, key, deferred)
        SELECT nextval({seq_name}::regclass), now.relid, now.nspname, now.relname, now.columns, now.key, now.deferred
        FROM now
        LEFT JOIN LATERAL (
            SELECT * FROM {layouts} AS old WHERE old.relid = now.relid ORDER BY old.repl_key DESC LIMIT 1
        ) AS last ON true
        WHERE (last.schemaname, last.tablename, last.columns, last.key, last.deferred)
            IS DISTINCT FROM (now.nspname::text, now.relname::text, now.columns, now.key, now.deferred)
        RETURNING 1
    )
    SELECT count(*) FROM written
$record_layout$
