-- Where replications stand: one row each, for those of :named (source, line break, slave) that the store knows.
-- The log is looked up by its key, at its end and at the slave's position, whatever its length; comparisons by theirs.
SELECT r.source, r.slave, r.status, r.segment, r.ordinal, r.delivered_at, r.update_id, r.batch_s,
       coalesce(newest.last_ordinal, 0) - r.ordinal AS holdback,
       greatest(extract(epoch FROM clock_timestamp() - oldest.published_at), 0)::float8 AS waiting_s,
       -- What is not due yet is no lag: a source where nothing happens has none.
       coalesce(CASE WHEN clock_timestamp() > p.due_at
           THEN extract(epoch FROM clock_timestamp() - p.caught_up_at) END, 0)::float8 AS unpublished_s,
       coalesce(l.expires_at > clock_timestamp(), false) AS draining,
       coalesce(m.expires_at > clock_timestamp(), false) AS publishing,
       greatest(extract(epoch FROM clock_timestamp() - m.succeeded_at), 0)::float8 AS quiet_s,
       to_jsonb(l) AS drain, to_jsonb(m) AS publisher,
       (SELECT jsonb_agg(to_jsonb(h)) FROM hold h WHERE h.source = r.source AND h.slave = r.slave) AS holds,
       (SELECT jsonb_agg(to_jsonb(t)) FROM tolerated t WHERE t.source = r.source AND t.slave = r.slave) AS conflicts,
       (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.schema, s."table") FROM skipped s
         WHERE s.source = r.source AND s.slave = r.slave) AS skipped,
       (SELECT to_jsonb(q) FROM question q WHERE q.source = r.source AND q.slave = r.slave AND q.state = 'WAITING'
         ORDER BY q.key LIMIT 1) AS question,
       (SELECT to_jsonb(t) FROM transfer t WHERE t.source = r.source AND t.slave = r.slave
           AND t.update_id = r.update_id AND r.status IN ('INITIAL', 'TRANSITION')) AS carried,
       b.body AS stuck,
       to_jsonb(u) - 'snapshot' - CASE WHEN :by_table AND r.status IN ('INITIAL', 'TRANSITION') THEN ''
           ELSE 'by_table' END AS update,
       (SELECT k.progress FROM point k JOIN barrier w ON w.point = k.id
         WHERE k.source = r.source AND w.slave = r.slave AND k.progress ->> 'run' IS NOT NULL AND k.deadline > clock_timestamp()
         ORDER BY k.id DESC LIMIT 1) AS comparing,
       c.compared, c.different, c.ranges, c.percent, c.since,
       (SELECT jsonb_object_agg(d."table", d.rows) FROM (SELECT "table", max(rows) AS rows FROM differing
           WHERE source = r.source AND slave = r.slave GROUP BY 1 ORDER BY 1) d) AS differing,
       (SELECT count(*) FROM rejected j WHERE j.source = r.source AND j.slave = r.slave) AS rejected,
       -- By now(), which the index can be asked for, other than clock_timestamp().
       CASE WHEN :recent THEN (SELECT json_agg(json_build_array(
               extract(epoch FROM h.at)::bigint, h.lag_s, h.holdback, h.ordinal) ORDER BY h.at)
           FROM history h WHERE h.source = r.source AND h.slave = r.slave AND NOT h.hourly
               AND h.at > now() - interval '1 hour') END AS recent
FROM replication r
LEFT JOIN LATERAL (SELECT last_ordinal FROM segment WHERE source = r.source ORDER BY number DESC LIMIT 1) newest ON true
LEFT JOIN LATERAL (SELECT published_at FROM segment WHERE source = r.source AND number >= r.segment
    AND last_ordinal > r.ordinal ORDER BY number LIMIT 1) oldest ON true
LEFT JOIN publisher p ON p.source = r.source
LEFT JOIN lease l ON l.name = 'drain ' || r.source || '->' || r.slave
LEFT JOIN lease m ON m.name = 'publish ' || r.source
LEFT JOIN stuck b ON b.source = r.source AND b.slave = r.slave
LEFT JOIN initial_update u ON u.id = r.update_id
LEFT JOIN LATERAL (SELECT point FROM comparison WHERE source = r.source AND slave = r.slave
    ORDER BY point DESC LIMIT 1) last ON true
LEFT JOIN LATERAL (SELECT sum(compared)::bigint AS compared, sum(different)::bigint AS different,
        coalesce(sum(jsonb_array_length(body -> 'within')), 0)::bigint AS ranges,
        coalesce(max(body -> 'only' ->> 'since'), '') AS since,
        coalesce(min((body ->> 'percent')::float8), 100) AS percent
    FROM comparison WHERE point = last.point AND slave = r.slave AND source = r.source) c ON true
WHERE r.source || E'\n' || r.slave = ANY (:named)
