-- The key of the last row of the next block, as of a change number; none if fewer rows are left. Manual: SQL Language Reference,
-- "flashback_query_clause", "row_limiting_clause".
SELECT {columns} FROM {table} AS OF SCN :scn source WHERE 1 = 1 {within}
ORDER BY {sorted} OFFSET :before ROWS FETCH NEXT 1 ROWS ONLY
