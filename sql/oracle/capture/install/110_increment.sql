-- INCREMENT of Table 2.4: the next unique key. Manual: PL/SQL Language Reference, "CREATE FUNCTION Statement", "CURRVAL and
-- NEXTVAL in PL/SQL".
CREATE OR REPLACE FUNCTION {increment} RETURN NUMBER AUTHID DEFINER
IS
BEGIN
    RETURN {seq}.NEXTVAL;
END;
