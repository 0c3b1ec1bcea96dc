-- Watched tables that are not what was recorded of them, or are gone (no name then).
SELECT entry.relid, namespace.nspname, class.relname
FROM {tables} AS entry
JOIN {current_tables} AS known USING (relid)
LEFT JOIN pg_class AS class ON class.oid = entry.relid
LEFT JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE entry.status = 'OK'
  AND (known.definition IS DISTINCT FROM {table_definition}(entry.relid)
       OR class.relkind = 'p' AND known.partitions <> {partitions}(entry.relid))
