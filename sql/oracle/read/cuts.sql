-- Addresses at which a table is cut into parts of about as many blocks, from a sample. The parts cover it wherever the cuts lie.
-- Manual: SQL Language Reference, "sample_clause", "NTILE", "ROWIDTOCHAR".
SELECT ROWIDTOCHAR(MIN(piece.place))
FROM (
    SELECT source.ROWID AS place, NTILE({parts}) OVER (ORDER BY source.ROWID) AS part
    FROM {table} SAMPLE BLOCK ({percent}) source
) piece
GROUP BY piece.part
ORDER BY MIN(piece.place)
