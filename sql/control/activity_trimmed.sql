-- The counts of tables of :source that are not among the watched ones, once nothing of the last day is left of them.
DELETE FROM activity AS counted
WHERE source = :source AND at = to_timestamp(0)
    AND (schema, "table") NOT IN (SELECT * FROM unnest(cast(:schemas AS text[]), cast(:tables AS text[])))
    AND NOT EXISTS (SELECT FROM activity AS later
        WHERE later.source = counted.source AND later.schema = counted.schema AND later."table" = counted."table"
            AND later.at > counted.at)
