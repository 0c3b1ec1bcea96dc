-- How far the publishers of :named sources are. What is not due yet is no lag: a source where nothing happens has none.
SELECT p.source, p.queued, p.log_bytes, p.changes, p.sweep_s,
       coalesce(newest.last_ordinal, 0) AS transactions, to_jsonb(l) AS lease,
       coalesce(CASE WHEN clock_timestamp() > p.due_at
           THEN extract(epoch FROM clock_timestamp() - p.caught_up_at) END, 0)::float8 AS lag_s
FROM publisher p
LEFT JOIN lease l ON l.name = 'publish ' || p.source
LEFT JOIN LATERAL (SELECT last_ordinal FROM segment WHERE source = p.source ORDER BY number DESC LIMIT 1) newest ON true
WHERE p.source = ANY (:named)
