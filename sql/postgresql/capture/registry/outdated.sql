-- After an upgrade that writes down anew what tables are. What was recorded of their columns, keys, names and partitions tells
-- which of them changed and nobody recorded it. Nothing is known of those from here on: what is queued of them cannot be read.
WITH entry AS (
    SELECT class.oid AS relid, namespace.nspname, class.relname
    FROM {tables} AS entry
    JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
    WHERE entry.status = 'OK'
), recorded AS MATERIALIZED (
    SELECT DISTINCT ON (relid) relid, schemaname, tablename, columns, key FROM {layouts} ORDER BY relid, repl_key DESC
), changed (relid) AS MATERIALIZED (
    SELECT entry.relid
    FROM entry
    CROSS JOIN LATERAL {tree}(entry.relid::oid) AS tree (relid)
    CROSS JOIN LATERAL {current_layout}(tree.relid::oid) AS now
    LEFT JOIN recorded ON recorded.relid = tree.relid
    WHERE (recorded.schemaname, recorded.tablename, recorded.columns, recorded.key)
        IS DISTINCT FROM (entry.nspname::text, entry.relname::text, now.columns, now.key)
    UNION
    SELECT entry.relid
    FROM entry
    JOIN {current_tables} AS known ON known.relid = entry.relid
    WHERE known.partitions <> {partitions}(entry.relid::oid)
)
DELETE FROM {layouts} WHERE relid IN (SELECT tree.relid FROM changed CROSS JOIN LATERAL {tree}(changed.relid::oid) AS tree (relid))
