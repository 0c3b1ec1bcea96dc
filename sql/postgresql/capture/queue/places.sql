-- Which slices of a backlog have keys in each run of so many blocks. Mostly one, but a page that a vacuum found room in
-- holds keys of any time.
SELECT first, ARRAY(
    SELECT DISTINCT repl_key / {width}
    FROM {queue}
    WHERE ctid >= format('(%s,0)', first)::tid AND ctid < format('(%s,0)', first + {run})::tid
      AND pg_visible_in_snapshot(trans_key, {snapshot}::pg_snapshot))
FROM generate_series(
    0, pg_relation_size({queue_name}::regclass) / current_setting('block_size')::int - 1, {run}) AS place (first)
ORDER BY first
