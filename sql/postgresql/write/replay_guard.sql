-- An error if one of these tables was altered since we looked. Last in its transaction, which locks what it wrote to
-- against that until it ends (R7).
SELECT 1 / (
    sum(xmin::text::bigint) = $2
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ANY ($1) AND condeferrable AND contype IN ('p', 'u', 'x'))
)::integer
FROM pg_attribute WHERE attrelid = ANY ($1::oid[]) AND attnum > 0
