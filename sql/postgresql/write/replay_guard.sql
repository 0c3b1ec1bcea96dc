-- An error if one of these tables was altered since we looked, or got a trigger. Last in its transaction, which locks what it
-- wrote to against that until it ends (R7).
SELECT 1 / (
    sum(stamp) = $2
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ANY ($1) AND condeferrable AND contype IN ('p', 'u', 'x'))
)::integer
FROM (
    SELECT xmin::text::bigint AS stamp FROM pg_attribute WHERE attrelid = ANY ($1::oid[]) AND attnum > 0
    UNION ALL
    SELECT xmin::text::bigint FROM pg_trigger WHERE tgrelid = ANY ($1) AND NOT tgisinternal
) AS stamps
