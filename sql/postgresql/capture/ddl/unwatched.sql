-- Tables that are wanted and not watched: made where no event trigger saw it, or where one failed to record it. Those that a
-- name stands for are so without detection, too; a partition of a table that is watched is none of them. As {cols_view} has
-- them, which asks of each table of the database what it is: here most are left out before that.
SELECT class.oid AS relid, namespace.nspname::text AS schemaname, class.relname::text AS relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p') AND class.relpersistence <> 't' AND pg_has_role(class.relowner, 'USAGE')
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = class.oid)
  AND (EXISTS (
        SELECT FROM {tables} AS listed
        WHERE (listed.schemaname, listed.tablename, listed.status) = (namespace.nspname::text, class.relname::text, 'WANTED'))
    OR (SELECT detection FROM {settings})
      AND namespace.nspname IN (SELECT wanted.schemaname::name FROM {wanted} AS wanted)
      AND EXISTS (SELECT FROM {wants}(namespace.nspname::text, class.relname::text))
      AND class.oid IN (SELECT living.relid FROM ({eligible}) AS living))
  AND NOT (class.relispartition AND EXISTS (
    SELECT FROM pg_partition_ancestors(class.oid) AS above (relid) JOIN {tables} AS whole USING (relid)))
