-- The LONG of the row at an address as of the sweep, and its key. Manual: SQL Language Reference, "ROWID Pseudocolumn", "CHARTOROWID",
-- "LONG Data Type", "flashback_query_clause".
SELECT {values} FROM {table} AS OF SCN :scn kept WHERE kept.ROWID = CHARTOROWID(:place)
