-- Of a table without a key. Manual: SQL Language Reference, "SELECT"; PL/SQL Packages and Types Reference, "DBMS_LOB", "COMPARE".
SELECT COUNT(*) FROM {table} held WHERE {alike}
