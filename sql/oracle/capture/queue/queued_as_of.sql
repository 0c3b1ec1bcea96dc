-- The transactions of a snapshot (R5). Manual: SQL Language Reference, "flashback_query_clause".
SELECT DISTINCT trans_key FROM {items} AS OF SCN :scn
