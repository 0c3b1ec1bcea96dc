-- Whether a large object is empty, which is not NULL; a driver may give either as nothing. Manual: PL/SQL Packages and Types Reference,
-- "DBMS_LOB", "GETLENGTH Functions".
CASE WHEN DBMS_LOB.GETLENGTH({column}) = 0 THEN 'E' END
