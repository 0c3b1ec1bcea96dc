-- Every digit of a number, whatever the session says of points and groups. TM9 turns to an exponent beyond 64 characters, which
-- the publisher writes out. Manual: SQL Language Reference, "Number Format Models".
CREATE OR REPLACE FUNCTION {number_text}(value IN NUMBER) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN TO_CHAR(value, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''');
END;
