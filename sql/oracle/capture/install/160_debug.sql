-- Manual: PL/SQL Language Reference, "CREATE PROCEDURE Statement".
CREATE OR REPLACE PROCEDURE {debug}(line IN VARCHAR2) AUTHID DEFINER
IS
BEGIN
    INSERT INTO {debug_table} (repl_key, line) VALUES ({seq}.NEXTVAL, SUBSTRB(line, 1, 4000));
END;
