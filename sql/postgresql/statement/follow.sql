-- A statement may have changed what watched tables are. Their columns are recorded in its transaction, also where no
-- event trigger sees it (R7).
SELECT {follow}(entry.relid, NULL)
FROM {current_tables} AS entry
JOIN pg_catalog.pg_class AS class ON class.oid = entry.relid
