-- An error if one of these tables was altered since we looked, got a trigger or a partition, or is gone. Its transaction has
-- locked them against that until it ends (R7).
SELECT 1 / (
    coalesce(sum(stamp), 0) = $2
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ANY ($1) AND condeferrable AND contype IN ('p', 'u', 'x'))
)::integer
FROM ({stamps}) AS stamps
