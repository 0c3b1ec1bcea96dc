-- Manual: SQL Language Reference, "ROWID Pseudocolumn", "CHARTOROWID".
AND source.ROWID >= CHARTOROWID(:low)
