-- The transactions of a backlog that do not end in the slice of keys that they begin in: few, since most are short.
SELECT trans_key::text, min(repl_key), max(repl_key)
FROM {queue}
WHERE pg_visible_in_snapshot(trans_key, {snapshot})
GROUP BY trans_key
HAVING min(repl_key) / {width} <> max(repl_key) / {width}
