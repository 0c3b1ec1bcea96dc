-- Bytes as base64 in one line: the server's own encoder breaks lines. Up to 12,000 bytes. Manual: PL/SQL Packages and Types
-- Reference, "UTL_ENCODE", "UTL_RAW".
CREATE OR REPLACE FUNCTION {base64}(bytes IN RAW) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN REPLACE(REPLACE(UTL_RAW.CAST_TO_VARCHAR2(UTL_ENCODE.BASE64_ENCODE(bytes)), CHR(10)), CHR(13));
END;
