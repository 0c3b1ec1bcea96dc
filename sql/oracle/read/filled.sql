-- Manual: SQL Language Reference, "flashback_query_clause", "ROWNUM Pseudocolumn".
SELECT 1 FROM {table} AS OF SCN :scn source WHERE ROWNUM = 1
