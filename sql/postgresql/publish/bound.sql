-- The key that bounds a sweep of about so many changes; a transaction larger than that still gets through whole (R1).
WITH nth AS (
    SELECT repl_key FROM {queue} ORDER BY repl_key OFFSET %(changes)s LIMIT 1
), last AS (
    SELECT trans_key, max(repl_key) AS repl_key FROM {queue} WHERE EXISTS (SELECT FROM nth) GROUP BY trans_key
)
SELECT greatest((SELECT repl_key - 1 FROM nth), (SELECT min(repl_key) FROM last)) WHERE EXISTS (SELECT FROM nth)
