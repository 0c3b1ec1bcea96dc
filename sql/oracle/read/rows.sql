-- Rows as of a change number. Manual: SQL Language Reference, "flashback_query_clause".
SELECT {columns} FROM {table} AS OF SCN :scn source WHERE 1 = 1 {within}
