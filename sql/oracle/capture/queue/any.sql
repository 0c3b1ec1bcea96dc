-- Manual: SQL Language Reference, "ROWNUM Pseudocolumn".
SELECT 1 FROM {items} item WHERE ROWNUM = 1
