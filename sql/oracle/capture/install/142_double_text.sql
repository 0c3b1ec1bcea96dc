-- A float by its bits, which no printed number is certain to give back. Manual: PL/SQL Packages and Types Reference,
-- "UTL_RAW", "CAST_FROM_BINARY_DOUBLE Function".
CREATE OR REPLACE FUNCTION {double_text}(value IN BINARY_DOUBLE) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN RAWTOHEX(UTL_RAW.CAST_FROM_BINARY_DOUBLE(value, UTL_RAW.BIG_ENDIAN));
END;
