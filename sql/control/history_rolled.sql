-- Minutes of :source that are older than a day become hours; those of an hour go together.
WITH old AS (
    DELETE FROM history
    WHERE source = :source AND NOT hourly AND at < date_trunc('hour', now() - interval '1 day')
    RETURNING source, slave, at, lag_s, holdback, ordinal
)
INSERT INTO history AS rolled (source, slave, hourly, at, lag_s, holdback, ordinal)
SELECT source, slave, true, date_trunc('hour', at), max(lag_s), max(holdback), (array_agg(ordinal ORDER BY at DESC))[1]
FROM old
GROUP BY source, slave, date_trunc('hour', at)
ON CONFLICT (source, slave, hourly, at) DO UPDATE
SET lag_s = greatest(rolled.lag_s, excluded.lag_s), holdback = greatest(rolled.holdback, excluded.holdback),
    ordinal = excluded.ordinal
