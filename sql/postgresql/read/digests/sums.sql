-- Rows of each bucket of keys, sums of the two halves of their hashes, and their bytes. OFFSET 0: a row is hashed once.
SELECT bucket, count(*), sum(('x' || substr(hash, 1, 16))::bit(64)::bigint), sum(('x' || substr(hash, 17, 16))::bit(64)::bigint),
    sum(bytes)::bigint
FROM (
    SELECT bucket, encode(sha256(convert_to(image, 'UTF8')), 'hex') AS hash, octet_length(image) AS bytes
    FROM (SELECT {bucket} AS bucket, concat({salt}, {image}) AS image FROM {rows} OFFSET 0) AS rows
    OFFSET 0
) AS hashes
GROUP BY bucket
