-- How many clients but ours execute something, in every database of the server, which all use the same disks; and whether
-- our role sees it: without this right `state` is NULL for sessions of other roles.
-- https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-ACTIVITY-VIEW
SELECT
    pg_has_role('pg_read_all_stats', 'USAGE'),
    count(*) FILTER (
        WHERE state IN ('active', 'fastpath function call') AND backend_type = 'client backend'
          AND application_name NOT LIKE 'sluice %'
    )
FROM pg_stat_activity
