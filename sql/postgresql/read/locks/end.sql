-- End the sessions that hold an exported snapshot, and those that read it; see `waiting`.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE (pid = ANY (%(holders)s::int[]) OR application_name LIKE 'sluice %% ' || %(snapshot)s)
  AND application_name LIKE 'sluice %%' AND datname = current_database() AND usename = current_user
