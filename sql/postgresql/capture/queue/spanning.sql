-- The slices of a backlog that transactions end in, each with those of them that begin in an earlier one: few, since most
-- transactions are short.
WITH whole AS (
    SELECT trans_key, min(repl_key) AS first, max(repl_key) AS last
    FROM {queue}
    WHERE pg_visible_in_snapshot(trans_key, {snapshot}::pg_snapshot)
    GROUP BY trans_key
)
SELECT last / {width} AS slice,
       coalesce(array_agg(trans_key::text) FILTER (WHERE first / {width} < last / {width}), '{{ }}'),
       coalesce(array_agg(first) FILTER (WHERE first / {width} < last / {width}), '{{ }}'),
       coalesce(array_agg(last) FILTER (WHERE first / {width} < last / {width}), '{{ }}')
FROM whole
GROUP BY slice
ORDER BY slice
