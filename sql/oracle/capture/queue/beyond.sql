-- Whether the queue goes on behind a slice. Manual: SQL Language Reference, "flashback_query_clause".
SELECT COUNT(*)
FROM {items} AS OF SCN :scn item
WHERE item.repl_key > :last_key
  AND EXISTS (SELECT 1 FROM {items} AS OF SCN :shown earlier WHERE earlier.repl_key = item.repl_key)
