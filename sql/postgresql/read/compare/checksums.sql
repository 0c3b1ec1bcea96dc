-- Rows of each range of keys, their checksums and bytes. Sums do not depend on the order of rows. A range includes its first
-- key. A row is an array of one element: of such a one the server hashes bytes, and an array has 28 bytes more than those.
-- OFFSET 0: a row becomes bytes once.
-- hash_record_extended would add up hashes of columns: in a sum over rows two that swap a value would not be found.
SELECT bucket, count(*), sum(hash_array_extended(image, {one}::bigint)), sum(hash_array_extended(image, {other}::bigint)),
    sum(pg_column_size(image)) - 28 * count(*)
FROM (
    SELECT {bucket} AS bucket, ARRAY[{image}] AS image
    FROM {rows}
    WHERE ({within}) AND ({all} OR abs(hashtextextended(ROW({key})::text COLLATE "C", {seed}::bigint) % {of}) < {parts})
    OFFSET 0
) AS rows
GROUP BY bucket
