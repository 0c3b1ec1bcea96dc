-- Whoever raised the fence before, and tasks of a load, which hold it as long as a chunk or a block takes (R6).
SELECT activity.pid
FROM {position} AS position
JOIN pg_stat_activity AS activity
    ON activity.pid = position.backend_pid
    OR activity.application_name = ANY(%(loads)s)
WHERE position.source = %(source)s AND position.slave = %(slave)s
  AND activity.datname = current_database() AND activity.application_name LIKE 'sluice %%'
  -- Who is between two transactions holds nothing.
  AND activity.xact_start IS NOT NULL
