SELECT activity.pid
FROM {state} AS state
JOIN pg_stat_activity AS activity ON activity.pid = state.backend_pid
WHERE activity.datname = current_database() AND activity.application_name LIKE 'sluice %%'
  AND activity.usename = current_user
