-- Whoever raised the fence before, and tasks of a load, which hold it as long as a chunk takes (R6).
SELECT activity.pid
FROM {position} AS position
JOIN pg_stat_activity AS activity
    ON activity.pid = position.backend_pid
    OR activity.application_name = left('sluice load ' || position.source || '->' || position.slave, 63)
WHERE position.source = %(source)s AND position.slave = %(slave)s
  AND activity.datname = current_database() AND activity.application_name LIKE 'sluice %%'
