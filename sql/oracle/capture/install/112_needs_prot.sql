-- NEEDS_PROT of Table 2.4: 0 plain, 1 CDATA, 2 base64 (what XML could not give back as it was). By TRANSLATE and not by a regular
-- expression, whose ranges depend on the session's NLS_SORT. Manual: SQL Language Reference, "TRANSLATE", "INSTR".
CREATE OR REPLACE FUNCTION {needs_prot}(value IN VARCHAR2) RETURN PLS_INTEGER DETERMINISTIC AUTHID DEFINER
IS
    controls CONSTANT VARCHAR2(64) :=
        UTL_RAW.CAST_TO_VARCHAR2(HEXTORAW('0001020304050607080B0C0D0E0F101112131415161718191A1B1C1D1E1F'));
BEGIN
    IF value IS NULL THEN
        RETURN 0;
    ELSIF INSTR(value, ']]>') > 0 OR NVL(LENGTHB(TRANSLATE(value, 'A' || controls, 'A')), 0) < LENGTHB(value) THEN
        RETURN 2;
    ELSIF INSTR(value, '<') > 0 OR INSTR(value, '&') > 0 THEN
        RETURN 1;
    END IF;
    RETURN 0;
END;
