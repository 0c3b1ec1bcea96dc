-- What tells the files of a table, and of its partitions, from those that it had: whoever empties, rewrites or replaces it gives it others.
WITH RECURSIVE tree (root, relid) AS (
    SELECT listed, listed FROM unnest({tables}) AS listed
    UNION
    SELECT root, inhrelid FROM tree JOIN pg_inherits ON inhparent = relid JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT tree.root::oid, md5(string_agg(format('%s %s', class.oid, pg_relation_filenode(class.oid)), ' ' ORDER BY class.oid))
FROM tree
JOIN pg_class AS class ON class.oid = tree.relid
GROUP BY tree.root
