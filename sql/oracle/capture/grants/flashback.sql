-- The change number of a snapshot. Manual: PL/SQL Packages and Types Reference, "DBMS_FLASHBACK".
GRANT EXECUTE ON sys.dbms_flashback TO {user}
