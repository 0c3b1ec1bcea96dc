-- Whether a table that exists is watched in the snapshot: then what the stream says up to there has all of it.
SELECT
FROM {tables} AS entry
JOIN pg_catalog.pg_class AS class ON class.oid = entry.relid
WHERE (entry.schemaname, entry.tablename) = (%(schema)s, %(table)s) AND entry.status <> 'CREATING'
  AND class.oid = pg_catalog.to_regclass(pg_catalog.format('%%I.%%I', entry.schemaname, entry.tablename))
