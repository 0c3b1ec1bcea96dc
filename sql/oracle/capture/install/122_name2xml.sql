-- The beginning of the literal of a column. Manual: SQL Language Reference, "REPLACE".
CREATE OR REPLACE FUNCTION {name2xml}(name IN VARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN '<col name="' || REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
        name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), CHR(10), '&#10;'), CHR(13), '&#13;'), CHR(9), '&#9;') || '"';
END;
