-- A value of the type JSON as a text. Where the server has no such type, this is not made. Manual: SQL Language Reference,
-- "JSON_SERIALIZE".
CREATE OR REPLACE FUNCTION {json_text}(value IN JSON) RETURN CLOB AUTHID DEFINER
IS
    made CLOB;
BEGIN
    SELECT JSON_SERIALIZE(value RETURNING CLOB) INTO made FROM dual;
    RETURN made;
END;
