-- The session that raised the fence before, and tasks of a load, which hold it as long as a chunk or a block takes (R6).
-- Anybody may give a session of his such a name, and a process id is given out again: only our role's sessions are meant.
SELECT activity.pid
FROM {position} AS position
JOIN pg_stat_activity AS activity
    ON activity.pid = position.backend_pid
    OR activity.application_name = ANY(%(loads)s)
WHERE position.source = %(source)s AND position.slave = %(slave)s
  AND activity.datname = current_database() AND activity.application_name LIKE 'sluice %%'
  AND activity.usename = current_user
  -- Who is between two transactions holds nothing.
  AND activity.xact_start IS NOT NULL
