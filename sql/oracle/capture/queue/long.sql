-- The LONG of a row as of the sweep. Manual: SQL Language Reference, "ROWID Pseudocolumn", "CHARTOROWID", "LONG Data Type",
-- "flashback_query_clause".
SELECT kept.{column} FROM {table} AS OF SCN :scn kept WHERE kept.ROWID = CHARTOROWID(:place)
