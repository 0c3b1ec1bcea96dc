-- Who has waited longest for a lock that sessions of ours hold: those that hold an exported snapshot, and those that read it,
-- whose names end with its id. A session that waits behind that one is not blocked by us. What a session executes is shown to its
-- own role, and to members of pg_read_all_stats.
-- https://www.postgresql.org/docs/current/view-pg-locks.html
SELECT
    waiting.pid, activity.usename, waiting.relation::regclass::text, activity.query,
    extract(epoch FROM clock_timestamp() - waiting.waitstart)::float8, waiting.waitstart::timestamptz(0)::text
FROM pg_locks AS waiting
JOIN pg_stat_activity AS activity ON activity.pid = waiting.pid
WHERE NOT waiting.granted AND waiting.locktype = 'relation'
  AND waiting.waitstart <= clock_timestamp() - make_interval(secs => %(after_s)s)
  AND pg_blocking_pids(waiting.pid) && ARRAY(
      SELECT ours.pid
      FROM pg_stat_activity AS ours
      WHERE (ours.pid = ANY (%(holders)s::int[]) OR ours.application_name LIKE 'sluice %% ' || %(snapshot)s)
        AND ours.datname = current_database())
ORDER BY waiting.waitstart
LIMIT 1
