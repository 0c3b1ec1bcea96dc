-- Sessions of others in this database.
SELECT DISTINCT usename::text, application_name FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
  AND application_name NOT LIKE 'sluice %%'
ORDER BY 1, 2
