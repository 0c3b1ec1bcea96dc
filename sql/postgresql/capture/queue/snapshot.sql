-- The snapshot of the sweep, and whether its session is the one that was begun, see `expect_same`.
SELECT pg_current_snapshot()::text, current_setting('sluice.session', true)
