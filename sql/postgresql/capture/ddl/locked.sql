-- Watched tables that others lock even against readers, or are about to, themselves or a part of them; who it is, and since when,
-- which is shown to that role and to members of pg_read_all_stats.
SELECT DISTINCT ON (entry.relid) entry.relid, entry.schemaname, entry.tablename, held.pid, activity.usename::text,
       activity.xact_start::timestamptz(0)::text
FROM pg_locks AS held
LEFT JOIN pg_stat_activity AS activity ON activity.pid = held.pid
JOIN {tables} AS entry
    ON entry.relid = held.relation OR entry.relid IN (SELECT pg_partition_ancestors(held.relation::regclass))
WHERE held.locktype = 'relation' AND held.mode = 'AccessExclusiveLock' AND held.pid <> pg_backend_pid()
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND entry.status = 'OK'
ORDER BY entry.relid, held.granted DESC, held.pid
