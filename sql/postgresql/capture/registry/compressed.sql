-- Whether long images in the queue are compressed.
SELECT EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = {queue_name}::regclass AND attname IN ('content', 'oldcontent') AND attstorage <> 'e')
