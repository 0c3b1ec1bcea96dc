-- Watched tables that are not what was recorded of them, or are gone (no name then), and what they were called. A constraint
-- that is checked at commit and refers to a table is no part of its definition, but asks for a trigger (R1). All are compared
-- at once: {current_layout} of one table alone reads all constraints each time. Tables that others refer to
-- come first in the order of loading, and those that are gone last, the other way round, as slaves can follow. To print a default the
-- server locks its table: those that others keep locked are left out.
WITH checked_late (relid) AS MATERIALIZED (
    SELECT unnest(ARRAY[conrelid, confrelid]) FROM pg_constraint WHERE condeferrable AND contype <> 't'
), recorded AS MATERIALIZED (
    SELECT DISTINCT ON (relid) relid, deferred FROM {layouts} ORDER BY relid, repl_key DESC
), differing (relid) AS MATERIALIZED (
    SELECT relid FROM recorded WHERE deferred <> (relid IN (SELECT relid FROM checked_late))
)
SELECT entry.relid, namespace.nspname, class.relname, known.schemaname, known.relname
FROM {tables} AS entry
JOIN {current_tables} AS known USING (relid)
LEFT JOIN pg_class AS class ON class.oid = entry.relid
LEFT JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE entry.status = 'OK' AND entry.relid <> ALL (%(left_out)s::oid[])
  AND (known.definition IS DISTINCT FROM {table_definition}(entry.relid::oid)
       OR class.oid IS NOT NULL AND known.types <> {types_reached}(entry.relid::oid)
       OR class.relkind = 'p' AND known.partitions <> {partitions}(entry.relid::oid)
       OR class.relkind = 'p' AND NOT known.clones <@ {clones}(entry.relid::oid)
       OR entry.relid IN (SELECT relid FROM differing)
       OR class.relkind = 'p' AND EXISTS (SELECT FROM {tree}(entry.relid::oid) AS tree (relid) JOIN differing USING (relid)))
ORDER BY class.oid IS NULL, CASE WHEN class.oid IS NULL THEN -entry.repl_key ELSE entry.repl_key END
