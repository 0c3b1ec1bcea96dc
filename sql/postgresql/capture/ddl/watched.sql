-- The tables that are watched, or are about to be.
SELECT entry.schemaname, entry.tablename
FROM {tables} AS entry
JOIN pg_class AS class ON class.oid = entry.relid
