-- Tables that are new and wanted, all or those named, are watched from the transaction on that made them.
SELECT {adopt}(living.relid, NULL)
FROM {cols_view} AS living
JOIN pg_catalog.pg_class AS class ON class.oid = living.relid
WHERE pg_catalog.pg_has_role(class.relowner, 'USAGE')
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = living.relid)
  AND (%(names)s::text[] IS NULL
       OR class.oid IN (SELECT pg_catalog.to_regclass(name) FROM pg_catalog.unnest(%(names)s::text[]) AS name))
