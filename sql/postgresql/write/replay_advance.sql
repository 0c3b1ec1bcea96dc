-- Moves the position on from exactly where the transaction before left it; an error if that failed, or somebody took
-- over. First in its transaction: whoever takes over waits for this lock (R3, R6).
WITH moved AS (
    UPDATE {position} SET segment = $1, ordinal = $2
    WHERE source = $3 AND slave = $4 AND epoch = $5 AND ordinal = $6
    RETURNING 1
)
SELECT 1 / count(*) FROM moved
