-- One column as an XML literal: a text of up to 4,000 bytes; longer ones are for {clob2xml}. The bytes of base64 are UTF-8,
-- whatever the character set of the database. Manual: PL/SQL Packages and Types Reference, "UTL_I18N", "STRING_TO_RAW Function".
CREATE OR REPLACE FUNCTION {col2xml}(name IN VARCHAR2, value IN VARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
    protection PLS_INTEGER;
BEGIN
    IF value IS NULL THEN
        RETURN {name2xml}(name) || ' type="null"/>';
    END IF;
    protection := {needs_prot}(value);
    IF protection = 2 THEN
        RETURN {name2xml}(name) || ' type="text" encoding="base64">' || {base64}(UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8'))
            || '</col>';
    ELSIF protection = 1 THEN
        RETURN {name2xml}(name) || '><![CDATA[' || value || ']]></col>';
    END IF;
    RETURN {name2xml}(name) || '>' || value || '</col>';
END;
