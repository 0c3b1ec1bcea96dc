-- So many of the rows that look alike. Manual: SQL Language Reference, "ROWNUM Pseudocolumn".
DELETE FROM {table} held WHERE {alike} AND ROWNUM <= :most
