-- Whether changes that a snapshot shows are queued still. Manual: SQL Language Reference, "flashback_query_clause".
SELECT COUNT(*)
FROM {items} AS OF SCN :scn shown
WHERE EXISTS (SELECT 1 FROM {items} item WHERE item.repl_key = shown.repl_key)
