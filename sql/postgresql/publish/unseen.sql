-- Tables that are not what was recorded of them, are gone (no name then), or are wanted and not watched yet.
SELECT entry.relid, namespace.nspname, class.relname
FROM {tables} AS entry
JOIN {current_tables} AS known USING (relid)
LEFT JOIN pg_class AS class ON class.oid = entry.relid
LEFT JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE entry.status = 'OK'
  AND (known.definition IS DISTINCT FROM {table_definition}(entry.relid)
       OR class.relkind = 'p' AND known.partitions <> {partitions}(entry.relid))
UNION ALL
SELECT living.relid, living.schemaname, living.relname
FROM {cols_view} AS living
JOIN pg_class AS class ON class.oid = living.relid
WHERE pg_has_role(class.relowner, 'USAGE')
  AND (SELECT detection FROM {settings})
  AND NOT EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = living.relid)
