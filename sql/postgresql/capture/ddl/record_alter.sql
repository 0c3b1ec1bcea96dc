-- Watched tables, all or those named, that this transaction may have altered. Their columns are recorded in the transaction
-- that changes them, also where no event trigger sees it (R7).
WITH here (relid) AS MATERIALIZED (
    {altered_here}
)
SELECT {follow}(entry.relid::oid, NULL::text)
FROM {current_tables} AS entry
JOIN pg_catalog.pg_class AS class ON class.oid = entry.relid
WHERE EXISTS (SELECT FROM {tree}(entry.relid::oid) AS tree (relid) JOIN here USING (relid))
  AND (%(names)s::text[] IS NULL
       OR class.oid IN (SELECT pg_catalog.to_regclass(name) FROM pg_catalog.unnest(%(names)s::text[]) AS name))
