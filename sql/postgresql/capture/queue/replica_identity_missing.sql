-- Whether a subscriber could not be told what a purge deletes, should somebody publish all tables.
SELECT relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)
FROM pg_class WHERE oid = {queue_name}::regclass
