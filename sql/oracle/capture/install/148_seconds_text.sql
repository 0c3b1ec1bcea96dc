-- An INTERVAL DAY TO SECOND as days and seconds, both with the sign of the whole. Manual: SQL Language Reference, "EXTRACT
-- (datetime)".
CREATE OR REPLACE FUNCTION {seconds_text}(value IN DSINTERVAL_UNCONSTRAINED) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN {number_text}(EXTRACT(DAY FROM value)) || ' '
        || {number_text}(EXTRACT(HOUR FROM value) * 3600 + EXTRACT(MINUTE FROM value) * 60 + EXTRACT(SECOND FROM value));
END;
