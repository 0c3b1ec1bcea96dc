-- Tables that are wanted and not watched: made where no event trigger saw it, or where one failed to record it. Those that a
-- name stands for are so without detection, too; a partition of a table that is watched is none of them.
SELECT living.relid, living.schemaname, living.relname
FROM {cols_view} AS living
JOIN pg_class AS class ON class.oid = living.relid
WHERE pg_has_role(class.relowner, 'USAGE')
  AND ((SELECT detection FROM {settings}) OR EXISTS (
    SELECT FROM {tables} AS listed
    WHERE (listed.schemaname, listed.tablename, listed.status) = (living.schemaname, living.relname, 'WANTED')))
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = living.relid)
  AND NOT (class.relispartition AND EXISTS (
    SELECT FROM pg_partition_ancestors(class.oid) AS above (relid) JOIN {tables} AS whole USING (relid)))
