-- What is older than 30 days goes.
DELETE FROM history WHERE source = :source AND at < now() - interval '30 days'
