-- Which transaction this is; NULL before it changes or locks something. Manual: PL/SQL Packages and Types Reference,
-- "DBMS_TRANSACTION", "LOCAL_TRANSACTION_ID Function".
SELECT DBMS_TRANSACTION.LOCAL_TRANSACTION_ID FROM dual
