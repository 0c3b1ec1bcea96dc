-- The blocks of a table with those of its partitions, as they are now.
SELECT sum(pg_relation_size(relid) / current_setting('block_size')::integer)::bigint
FROM (SELECT %(relation)s::regclass AS relid UNION SELECT relid FROM pg_partition_tree(%(relation)s::regclass)) AS parts
