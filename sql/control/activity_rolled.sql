-- What was more than a day ago becomes one row of each table, at the beginning of time.
WITH old AS (
    DELETE FROM activity
    WHERE source = :source AND at < now() - interval '25 hours' AND at > to_timestamp(0)
    RETURNING source, schema, "table", inserts, updates, deletes
)
INSERT INTO activity AS rolled (source, schema, "table", at, inserts, updates, deletes)
SELECT source, schema, "table", to_timestamp(0), sum(inserts), sum(updates), sum(deletes)
FROM old
GROUP BY source, schema, "table"
ON CONFLICT (source, schema, "table", at) DO UPDATE
SET inserts = rolled.inserts + excluded.inserts, updates = rolled.updates + excluded.updates,
    deletes = rolled.deletes + excluded.deletes
