-- Reports of tables that are older than :days, if a later one tells the same: one of as many rows, that says as much of the others.
WITH told AS (
    SELECT id, source, slave, "table", point, at,
           NOT body ?| ARRAY['within', 'only'] AS of_all_keys,
           NOT body ?| ARRAY['within', 'only'] AND coalesce((body ->> 'percent')::float8, 100) >= 100
               OR different > 0 OR coalesce((body ->> 'own')::bigint, 0) > 0 AS proves
    FROM comparison
), last AS (
    SELECT source, slave, "table", max(point) AS point, max(point) FILTER (WHERE of_all_keys) AS of_all_keys,
           max(point) FILTER (WHERE proves) AS proves
    FROM told
    GROUP BY source, slave, "table"
)
DELETE FROM comparison AS old
USING told, last
WHERE told.id = old.id AND told.at < clock_timestamp() - make_interval(secs => :days * 86400)
    AND (last.source, last.slave, last."table") = (told.source, told.slave, told."table")
    AND told.point < last.point
    AND told.point IS DISTINCT FROM last.of_all_keys AND told.point IS DISTINCT FROM last.proves
