-- The last keys of all parts of a range but the last part, about as large as each other, by a sample of its table's blocks. Any keys
-- will do. Manual: SQL Language Reference, "sample_clause", "ROW_NUMBER", "MOD", "CEIL".
SELECT {taken}
FROM (
    SELECT {columns}, ROW_NUMBER() OVER (ORDER BY {sorted}) AS numbered, COUNT(*) OVER () AS every_one
    FROM {table} SAMPLE BLOCK ({percent}) source
) piece
WHERE MOD(piece.numbered, CEIL(piece.every_one / {parts})) = 0 AND piece.numbered < piece.every_one
ORDER BY piece.numbered
