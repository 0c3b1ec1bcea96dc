-- A moment, whatever calendar and language the session has: EXTRACT goes by the Gregorian calendar, and a year before 1 has a
-- minus. Nine digits of a second. Manual: SQL Language Reference, "EXTRACT (datetime)"; PL/SQL Language Reference, "Unconstrained
-- and Constrained Subtypes" (an unconstrained one keeps nine digits).
CREATE OR REPLACE FUNCTION {moment_text}(value IN TIMESTAMP_UNCONSTRAINED) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN TO_CHAR(EXTRACT(YEAR FROM value), 'FM0000') || '-' || TO_CHAR(EXTRACT(MONTH FROM value), 'FM00') || '-'
        || TO_CHAR(EXTRACT(DAY FROM value), 'FM00') || ' ' || TO_CHAR(EXTRACT(HOUR FROM value), 'FM00') || ':'
        || TO_CHAR(EXTRACT(MINUTE FROM value), 'FM00') || ':'
        || TO_CHAR(EXTRACT(SECOND FROM value), 'FM00.000000000', 'NLS_NUMERIC_CHARACTERS=''.,''');
END;
