-- The literal of long bytes, read in pieces of a multiple of three bytes, so that the pieces of base64 join to one. `kind` is what
-- stands between name and text. An empty LOB is not NULL. Manual: PL/SQL Packages and Types Reference, "DBMS_LOB".
CREATE OR REPLACE FUNCTION {lob2xml}(name IN VARCHAR2, kind IN VARCHAR2, value IN BLOB) RETURN CLOB AUTHID DEFINER
IS
    step CONSTANT PLS_INTEGER := 12000;
    made  CLOB;
    place NUMBER := 1;
    piece VARCHAR2(32767);
BEGIN
    IF value IS NULL THEN
        RETURN {name2xml}(name) || ' type="null"/>';
    END IF;
    DBMS_LOB.CREATETEMPORARY(made, TRUE);
    piece := {name2xml}(name) || kind || ' encoding="base64">';
    DBMS_LOB.APPEND(made, TO_CLOB(piece));
    WHILE place <= DBMS_LOB.GETLENGTH(value) LOOP
        piece := {base64}(DBMS_LOB.SUBSTR(value, step, place));
        DBMS_LOB.APPEND(made, TO_CLOB(piece));
        place := place + step;
    END LOOP;
    DBMS_LOB.APPEND(made, TO_CLOB('</col>'));
    RETURN made;
END;
