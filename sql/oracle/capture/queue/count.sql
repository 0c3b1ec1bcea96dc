-- Manual: SQL Language Reference, "ROWNUM Pseudocolumn".
SELECT COUNT(*) FROM {items} item WHERE ROWNUM <= :most
