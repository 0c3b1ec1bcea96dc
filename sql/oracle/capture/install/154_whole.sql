-- The image that was put together. Manual: PL/SQL Language Reference, "CLOB Variables".
CREATE OR REPLACE FUNCTION {whole}(image IN CLOB, buffer IN VARCHAR2) RETURN CLOB AUTHID DEFINER
IS
    made CLOB := image;
BEGIN
    IF made IS NULL THEN
        RETURN buffer;
    END IF;
    IF buffer IS NOT NULL THEN
        DBMS_LOB.APPEND(made, TO_CLOB(buffer));
    END IF;
    RETURN made;
END;
