-- The same for bytes. Manual: SQL Language Reference, "RAW and LONG RAW Data Types".
CREATE OR REPLACE FUNCTION {raw2xml}(name IN VARCHAR2, value IN RAW) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN {name2xml}(name) || ' type="null"/>';
    END IF;
    RETURN {name2xml}(name) || ' encoding="base64">' || {base64}(value) || '</col>';
END;
