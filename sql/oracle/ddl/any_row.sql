-- Manual: SQL Language Reference, "ROWNUM Pseudocolumn".
SELECT 1 FROM {table} held WHERE ROWNUM = 1
