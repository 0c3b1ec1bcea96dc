-- Asking for the newest change number, as of which rows are read. Manual: PL/SQL Packages and Types Reference, "DBMS_FLASHBACK".
GRANT EXECUTE ON sys.dbms_flashback TO {user}
