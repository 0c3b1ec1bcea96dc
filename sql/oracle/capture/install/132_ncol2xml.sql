-- The same for a text in the national character set. ITEMS is in that of the database, which may lack some of its characters:
-- such a text is base64. Manual: SQL Language Reference, "TO_CHAR (character)", "TO_NCHAR (character)".
CREATE OR REPLACE FUNCTION {ncol2xml}(name IN VARCHAR2, value IN NVARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
    converted VARCHAR2(32767);
BEGIN
    IF value IS NULL THEN
        RETURN {name2xml}(name) || ' type="null"/>';
    END IF;
    converted := TO_CHAR(value);
    IF UTL_I18N.STRING_TO_RAW(converted, 'AL32UTF8') = UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8') THEN
        RETURN {col2xml}(name, converted);
    END IF;
    RETURN {name2xml}(name) || ' type="text" encoding="base64">' || {base64}(UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8'))
        || '</col>';
END;
