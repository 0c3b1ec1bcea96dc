-- Watched tables whose columns or partitions are not those recorded last, or are not recorded at all: a change that no
-- event trigger saw, or that it failed to record. Images since then cannot be told apart from older ones, rows of a partition
-- came or went unseen. One without a column counts as dropped. `went`: partitions went, and that is all; a look sends the whole table. Those come last.
WITH recorded AS MATERIALIZED (
    SELECT DISTINCT ON (relid) relid, columns FROM {layouts} ORDER BY relid, repl_key DESC
), differing (schemaname, tablename, went) AS (
    SELECT entry.schemaname, entry.tablename, false
    FROM {tables} AS entry
    JOIN pg_class AS class ON class.oid = entry.relid
    CROSS JOIN LATERAL {tree}(class.oid::oid) AS tree (relid)
    LEFT JOIN recorded ON recorded.relid = tree.relid
    CROSS JOIN LATERAL {listed}(tree.relid::oid) AS living (columns)
    WHERE entry.status = 'OK' AND living.columns IS NOT NULL AND recorded.columns IS DISTINCT FROM living.columns
    UNION ALL
    SELECT entry.schemaname, entry.tablename, known.partitions @> {partitions}(entry.relid::oid)
    FROM {current_tables} AS known
    JOIN {tables} AS entry USING (relid)
    JOIN pg_class AS class ON class.oid = entry.relid
    WHERE known.partitions <> {partitions}(entry.relid::oid)
)
SELECT schemaname, tablename, bool_and(went) AS went
FROM differing
GROUP BY schemaname, tablename
ORDER BY went
