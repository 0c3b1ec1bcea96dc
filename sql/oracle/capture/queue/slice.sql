-- Where the first changes of the queue end: whole transactions, in the order of their largest keys (R1).
-- Manual: SQL Language Reference, "flashback_query_clause", "Analytic Functions".
SELECT MIN(summed.last_key)
FROM (
    SELECT ends.last_key, SUM(ends.changes) OVER (ORDER BY ends.last_key) AS so_far
    FROM (
        SELECT MAX(item.repl_key) AS last_key, COUNT(*) AS changes
        FROM {items} AS OF SCN :scn item
        WHERE EXISTS (SELECT 1 FROM {items} AS OF SCN :shown earlier WHERE earlier.repl_key = item.repl_key)
        GROUP BY item.trans_key
    ) ends
) summed
WHERE summed.so_far >= :most
