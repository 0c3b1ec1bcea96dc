-- How many changes are queued, counted up to so many: the queue has no index, and may be long.
SELECT count(*) FROM (SELECT FROM {queue} LIMIT %(most)s::bigint) AS counted
