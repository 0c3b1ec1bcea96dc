-- How a replication was in the last :seconds, by steps of :step seconds: the most of each, and its last ordinal.
SELECT (floor(extract(epoch FROM at) / :step) * :step)::float8 AS step, max(lag_s), max(holdback),
       (array_agg(ordinal ORDER BY at DESC))[1]
FROM history
WHERE source = :source AND slave = :slave AND at > now() - make_interval(secs => :seconds)
GROUP BY step
ORDER BY step
