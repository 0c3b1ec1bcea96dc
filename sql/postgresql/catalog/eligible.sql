-- Tables that a wildcard may take: ordinary and partitioned ones with columns; no partitions, which belong to their
-- table; none of an extension, none that lasts for a session; none of ours, under whichever prefix, as master or slave.
SELECT class.oid AS relid, namespace.nspname AS schemaname, class.relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p')
  AND class.relpersistence <> 't'
  AND NOT class.relispartition
  AND class.relname NOT IN ('sluice_position', 'sluice_loaded', 'sluice_ranges', 'sluice_indexes',
                            'sluice_references')
  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped)
  AND NOT EXISTS (
    SELECT FROM pg_depend AS d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = class.oid AND d.objsubid = 0 AND d.deptype = 'e')
  AND NOT EXISTS (
    SELECT
    FROM pg_proc AS made
    CROSS JOIN LATERAL left(made.proname, -length('needs_prot')) AS prefix
    WHERE made.pronamespace = class.relnamespace
      AND made.proname = prefix || 'needs_prot'
      AND starts_with(class.relname, prefix)
      AND EXISTS (SELECT FROM pg_class AS seq
                  WHERE seq.relnamespace = class.relnamespace AND seq.relname = prefix || 'seq' AND seq.relkind = 'S'))
