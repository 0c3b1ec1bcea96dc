-- Rows that changed in each table of :source: since counting began, in the last 24 hours, and in the last hour.
SELECT schema, "table", sum(inserts) AS inserts, sum(updates) AS updates, sum(deletes) AS deletes,
       coalesce(sum(inserts + updates + deletes) FILTER (WHERE at > now() - interval '24 hours'), 0) AS day,
       coalesce(sum(inserts + updates + deletes) FILTER (WHERE at > now() - interval '1 hour'), 0) AS hour
FROM activity
WHERE source = :source
GROUP BY schema, "table"
