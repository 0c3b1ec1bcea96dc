-- The same in the national character set. Manual: PL/SQL Packages and Types Reference, "DBMS_LOB", "CONVERTTOBLOB Procedure".
CREATE OR REPLACE FUNCTION {nclob2xml}(name IN VARCHAR2, value IN NCLOB) RETURN CLOB AUTHID DEFINER
IS
    bytes        BLOB;
    made         CLOB;
    place        NUMBER := 1;
    source_place NUMBER := 1;
    context      NUMBER := DBMS_LOB.DEFAULT_LANG_CTX;
    warning      NUMBER;
BEGIN
    IF value IS NULL THEN
        RETURN {name2xml}(name) || ' type="null"/>';
    END IF;
    DBMS_LOB.CREATETEMPORARY(bytes, TRUE);
    IF DBMS_LOB.GETLENGTH(value) > 0 THEN
        DBMS_LOB.CONVERTTOBLOB(
            bytes, value, DBMS_LOB.LOBMAXSIZE, place, source_place, NLS_CHARSET_ID('AL32UTF8'), context, warning);
    END IF;
    made := {lob2xml}(name, ' type="text"', bytes);
    DBMS_LOB.FREETEMPORARY(bytes);
    RETURN made;
END;
