-- Watched tables whose columns or partitions are not those recorded last, or are not recorded at all: a change that no
-- event trigger saw, or that it failed to record. Images since then cannot be told apart from older ones, rows of a partition came or went unseen.
SELECT DISTINCT entry.schemaname, entry.tablename
FROM {tables} AS entry
JOIN pg_class AS class ON class.oid = entry.relid
CROSS JOIN LATERAL {tree}(class.oid) AS tree (relid)
CROSS JOIN LATERAL {current_layout}(tree.relid) AS now
LEFT JOIN LATERAL (
    SELECT columns FROM {layouts} AS old WHERE old.relid = tree.relid ORDER BY old.repl_key DESC LIMIT 1
) AS last ON true
WHERE entry.status = 'OK' AND last.columns IS DISTINCT FROM now.columns
UNION
SELECT entry.schemaname, entry.tablename
FROM {current_tables} AS known
JOIN {tables} AS entry USING (relid)
JOIN pg_class AS class ON class.oid = entry.relid
WHERE known.partitions <> {partitions}(entry.relid)
