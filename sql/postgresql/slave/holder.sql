SELECT activity.pid
FROM {position} AS position
JOIN pg_stat_activity AS activity ON activity.pid = position.backend_pid
WHERE position.source = %(source)s AND position.slave = %(slave)s
  AND activity.datname = current_database() AND activity.application_name LIKE 'sluice %%'
