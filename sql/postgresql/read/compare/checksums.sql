-- Rows of each range of keys, their checksums and bytes. Sums do not depend on the order of rows. A range includes its first
-- key. OFFSET 0: a row becomes a text once.
SELECT bucket, count(*), sum(hashtextextended(image, {one})), sum(hashtextextended(image, {other})), sum(octet_length(image))::bigint
FROM (
    SELECT {bucket} AS bucket, ROW({columns})::text COLLATE "C" AS image
    FROM {rows}
    WHERE ({within}) AND ({all} OR abs(hashtextextended(ROW({key})::text COLLATE "C", {seed}::bigint) % {of}) < {parts})
    OFFSET 0
) AS rows
GROUP BY bucket
