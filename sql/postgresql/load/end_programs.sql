-- A program that an earlier load left behind would go on to write rows (R6). Anybody may give a session of his that name: only
-- our role's are ended.
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = %(application)s AND usename = current_user
