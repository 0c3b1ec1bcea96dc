-- Tables that are wanted, all or those named, are watched from the transaction on that made them: this one, which is still
-- in progress. Those that others made bring rows of theirs into the stream, and are left to the publisher.
SELECT {adopt}(living.relid::oid, NULL::text)
FROM {cols_view} AS living
JOIN pg_catalog.pg_class AS class ON class.oid = living.relid
WHERE pg_catalog.pg_has_role(class.relowner, 'USAGE')
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = living.relid)
  AND living.relid <> ALL (%(others)s::oid[])
  AND CASE WHEN pg_catalog.age(class.xmin) <= 0 THEN pg_catalog.pg_xact_status((
          pg_catalog.pg_current_xact_id()::text::bigint - pg_catalog.age(class.xmin))::text::xid8) = 'in progress' END
  AND (%(names)s::text[] IS NULL
       OR class.oid IN (SELECT pg_catalog.to_regclass(name) FROM pg_catalog.unnest(%(names)s::text[]) AS name))
