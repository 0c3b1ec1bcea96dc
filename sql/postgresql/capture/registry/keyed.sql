-- The name of the queue's key, if it has one.
SELECT conname FROM pg_constraint WHERE conrelid = {queue_name}::regclass AND contype = 'p'
