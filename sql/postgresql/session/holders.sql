-- Who holds the lock that a session waits for, or waits for it in front of that one.
SELECT DISTINCT holder.pid, activity.usename::text, activity.application_name
FROM unnest(pg_blocking_pids(%(pid)s)) AS holder (pid)
LEFT JOIN pg_stat_activity AS activity USING (pid)
-- One that has ended meanwhile is in no list; prepared transactions have no session.
WHERE activity.pid IS NOT NULL OR holder.pid = 0
ORDER BY holder.pid
