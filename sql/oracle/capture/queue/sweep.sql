-- The queue as of one change number: whole transactions, in the order of their largest keys (R1); nothing that a query as of an
-- earlier one does not give, if that is asked for. Manual: SQL Language Reference, "flashback_query_clause".
SELECT ends.last_key, item.trans_key, item.repl_key, item.relid, item.db_action, item.guid, item.content, item.oldcontent
FROM {items} AS OF SCN :scn item
JOIN (
    SELECT other.trans_key, MAX(other.repl_key) AS last_key
    FROM {items} AS OF SCN :scn other
    WHERE EXISTS (SELECT 1 FROM {items} AS OF SCN :shown earlier WHERE earlier.repl_key = other.repl_key)
    GROUP BY other.trans_key
) ends ON ends.trans_key = item.trans_key
WHERE ends.last_key <= :last_key
ORDER BY ends.last_key, item.repl_key
