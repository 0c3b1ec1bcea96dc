-- How large tables are with their partitions. Files grow before anything is committed.
SELECT coalesce(sum(pg_relation_size(part.relid)), 0)
FROM (
    SELECT DISTINCT unnest(ARRAY[wanted.relid] || ARRAY(SELECT relid::oid FROM pg_partition_tree(wanted.relid))) AS relid
    FROM (SELECT to_regclass(name)::oid AS relid FROM unnest(%(tables)s::text[]) AS name) AS wanted
) AS part
