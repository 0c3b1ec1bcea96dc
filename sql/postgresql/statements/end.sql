-- A session whose client is gone may keep a statement's transaction open for as long as the network says nothing. Anybody may
-- give a session of his that name: only our role's are ended.
SELECT pg_terminate_backend(pid, 5000)
FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND application_name = %(session)s AND usename = current_user
