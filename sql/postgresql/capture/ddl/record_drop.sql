-- Watched tables that this transaction dropped are watched no more.
SELECT {forget}(entry.relid::oid, NULL::text)
FROM {current_tables} AS entry
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class AS class WHERE class.oid = entry.relid)
  AND entry.relid IN ({altered_here})
