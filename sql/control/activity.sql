-- Rows that were inserted, updated and deleted in each table of :source: since counting began, in the last 24 hours, and
-- in the last hour.
SELECT schema, "table",
       ARRAY[sum(inserts), sum(updates), sum(deletes)] AS ever,
       ARRAY[coalesce(sum(inserts) FILTER (WHERE of_day), 0), coalesce(sum(updates) FILTER (WHERE of_day), 0),
             coalesce(sum(deletes) FILTER (WHERE of_day), 0)] AS day,
       ARRAY[coalesce(sum(inserts) FILTER (WHERE of_hour), 0), coalesce(sum(updates) FILTER (WHERE of_hour), 0),
             coalesce(sum(deletes) FILTER (WHERE of_hour), 0)] AS hour
FROM (SELECT *, at > now() - interval '24 hours' AS of_day, at > now() - interval '1 hour' AS of_hour
      FROM activity WHERE source = :source) AS counted
GROUP BY schema, "table"
