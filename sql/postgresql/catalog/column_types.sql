SELECT array_agg(atttypid) FROM pg_attribute WHERE attrelid = %(relation)s::regclass AND attnum > 0 AND NOT attisdropped
