-- Rows of each bucket of keys, and sums of the two halves of their hashes. A row that is too long to be written has no hash
-- (max_allowed_packet): its bucket is not like the master's, and is read.
SELECT {bucket} AS bucket, COUNT(*), SUM(CAST(CONV(SUBSTR({hash}, 1, 16), 16, 10) AS UNSIGNED)),
    SUM(CAST(CONV(SUBSTR({hash}, 17, 16), 16, 10) AS UNSIGNED))
FROM {table}
GROUP BY bucket
