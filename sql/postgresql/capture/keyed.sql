-- The queue's index by key, and whether its purges can be told to a subscriber who has all tables.
SELECT (SELECT conname FROM pg_constraint WHERE conrelid = class.oid AND contype = 'p'), relreplident = 'f'
FROM pg_class AS class
WHERE class.oid = {queue_name}::regclass
