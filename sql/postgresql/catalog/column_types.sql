-- Of the types of a table's columns those that are not built in.
SELECT array_agg(atttypid) FROM pg_attribute
WHERE attrelid = %(relation)s::regclass AND attnum > 0 AND NOT attisdropped AND atttypid >= 16384
