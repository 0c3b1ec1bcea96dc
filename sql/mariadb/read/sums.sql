-- Rows of each bucket of keys, and sums of the two halves of their hashes. A row that is too long to be written has no hash
-- (max_allowed_packet): instead, numbers that the other side does not know are added, so that its bucket is read. By place, since
-- a column of the table may have any name.
SELECT {bucket} AS bucket, COUNT(*), SUM(IFNULL(CAST(CONV(SUBSTR({hash}, 1, 16), 16, 10) AS UNSIGNED), {unknown})),
    SUM(IFNULL(CAST(CONV(SUBSTR({hash}, 17, 16), 16, 10) AS UNSIGNED), {other_unknown}))
FROM {table}
GROUP BY 1
