-- Moves the position on from exactly where the transaction before left it; an error if that failed, or somebody took
-- over, or if this is not the session that was begun (see `expect_same`). First in its transaction: a drain that
-- takes over waits for this lock (R3, R6).
WITH moved AS (
    UPDATE {position} SET segment = $1, ordinal = $2
    WHERE source = $3 AND slave = $4 AND epoch = $5 AND ordinal = $6 AND current_setting('sluice.session', true) = $7
    RETURNING 1
)
SELECT 1 / count(*) FROM moved
