-- Whether we may let the server note its running transactions (from PostgreSQL 16 on).
SELECT coalesce(has_function_privilege(to_regprocedure('pg_catalog.pg_log_standby_snapshot()'), 'EXECUTE'), false)
