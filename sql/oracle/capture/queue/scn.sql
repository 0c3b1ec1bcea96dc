-- The newest change number: every commit up to it is seen by a query as of it. Manual: PL/SQL Packages and Types Reference,
-- "DBMS_FLASHBACK", "GET_SYSTEM_CHANGE_NUMBER Function".
SELECT TO_CHAR(DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER) FROM dual
