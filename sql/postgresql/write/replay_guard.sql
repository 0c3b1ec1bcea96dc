-- An error if one of these tables was altered since we looked, got a trigger, or is gone. Last in its transaction, which
-- locks what it wrote to against that until it ends (R7).
SELECT 1 / (
    coalesce(sum(stamp), 0) = $2
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ANY ($1) AND condeferrable AND contype IN ('p', 'u', 'x'))
)::integer
FROM (
    SELECT xmin::text::bigint AS stamp FROM pg_attribute WHERE attrelid = ANY ($1::oid[]) AND attnum > 0
    UNION ALL
    SELECT xmin::text::bigint FROM pg_trigger WHERE tgrelid = ANY ($1) AND NOT tgisinternal
) AS stamps
