-- Tables that are wanted and not watched: made where no event trigger saw it, or where one failed to record it.
SELECT living.relid, living.schemaname, living.relname
FROM {cols_view} AS living
JOIN pg_class AS class ON class.oid = living.relid
WHERE pg_has_role(class.relowner, 'USAGE')
  AND (SELECT detection FROM {settings})
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = living.relid)
