-- The first key of a backlog that belongs to a transaction which begins and ends in one slice.
SELECT repl_key
FROM {queue}
WHERE repl_key >= {begin}
  AND pg_visible_in_snapshot(trans_key, {snapshot})
  AND trans_key <> ALL ({spanning}::xid8[])
ORDER BY repl_key
LIMIT 1
