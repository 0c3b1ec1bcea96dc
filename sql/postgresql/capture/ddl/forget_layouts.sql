-- Relations that are gone, and whose last change was published: tables come and go under a wildcard for months. A DROP
-- has waited for the table's writers, so one snapshot shows that the table is gone and all that was ever queued of it. The
-- DROP of one that is still in the registry is still to come, and is read by its columns (R7).
WITH gone AS MATERIALIZED (
    SELECT DISTINCT relid FROM {layouts} AS layout
    WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = layout.relid)
      AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = layout.relid)
)
DELETE FROM {layouts} AS layout
USING gone
WHERE layout.relid = gone.relid AND NOT EXISTS (SELECT FROM {queue} AS change WHERE change.relid = gone.relid)
