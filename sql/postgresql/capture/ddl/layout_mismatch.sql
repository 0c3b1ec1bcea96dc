-- Watched tables whose columns or partitions are not those recorded last, or are not recorded at all: a change that no
-- event trigger saw, or that it failed to record. Images since then cannot be told apart from older ones, rows of a partition came or went unseen.
WITH recorded AS MATERIALIZED (
    SELECT DISTINCT ON (relid) relid, columns FROM {layouts} ORDER BY relid, repl_key DESC
)
SELECT DISTINCT entry.schemaname, entry.tablename
FROM {tables} AS entry
JOIN pg_class AS class ON class.oid = entry.relid
CROSS JOIN LATERAL {tree}(class.oid::oid) AS tree (relid)
LEFT JOIN recorded ON recorded.relid = tree.relid
WHERE entry.status = 'OK' AND recorded.columns IS DISTINCT FROM {listed}(tree.relid::oid)
UNION
SELECT entry.schemaname, entry.tablename
FROM {current_tables} AS known
JOIN {tables} AS entry USING (relid)
JOIN pg_class AS class ON class.oid = entry.relid
WHERE known.partitions <> {partitions}(entry.relid::oid)
