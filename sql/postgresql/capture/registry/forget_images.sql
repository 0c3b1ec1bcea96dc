-- Changes of a table whose columns changed unseen: no image tells under which columns it was written, so none is kept (R7).
-- The caller holds the table against writers, and the slaves are INCONSISTENT already.
DELETE FROM {queue}
WHERE relid IN (SELECT %(relation)s::oid UNION SELECT relid::oid FROM pg_partition_tree(%(relation)s::oid::regclass))
