-- Who holds a lock of a table that keeps another one of us out, or the lock of that name.
SELECT DISTINCT held.pid, activity.usename::text, activity.application_name
FROM pg_locks AS held
JOIN pg_stat_activity AS activity ON activity.pid = held.pid
WHERE held.granted AND held.pid <> pg_backend_pid()
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((held.locktype = 'relation' AND held.relation = to_regclass(%(table)s)
        AND held.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock'))
    OR (held.locktype = 'advisory' AND held.objsubid = 1
        AND (held.classid::bigint << 32 | held.objid::bigint) = hashtext(%(name)s)::bigint))
ORDER BY held.pid
