-- Whether the queue keeps actions as letters, as it did, and is so short that it is soon written anew.
SELECT pg_relation_size(attrelid) < 64 * 1024 * 1024
FROM pg_attribute
WHERE attrelid = {queue_name}::regclass AND attname = 'db_action' AND atttypid = '"char"'::regtype
