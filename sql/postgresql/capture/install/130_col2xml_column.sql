-- One column as an XML literal; a bytea is always base64, a boolean is a word, NULL is not ''. A name that XML could not give back is base64
-- as well, and `encoded` says so.
CREATE OR REPLACE FUNCTION {col2xml}(name text, type text, value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    '<col name="'
        || CASE WHEN name ~ E'[\x01-\x08\x0b\x0c\x0e-\x1f\\ufffe\\uffff]'
            THEN translate(encode(convert_to(name, 'UTF8'), 'base64'), E'\n', '') || '" encoded="name"'
            ELSE replace(replace(replace(replace(replace(replace(replace(
                name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), E'\n', '&#10;'), E'\r', '&#13;'), E'\t', '&#9;')
                || '"'
        END
        || CASE
            WHEN value IS NULL THEN ' type="null"/>'
            WHEN type = 'bytea' THEN
                ' encoding="base64">' || translate(encode(decode(substr(value, 3), 'hex'), 'base64'), E'\n', '') || '</col>'
            WHEN type = 'boolean' AND value IN ('t', 'f') THEN CASE value WHEN 't' THEN '>true</col>' ELSE '>false</col>' END
            ELSE CASE {needs_prot}(value::text)
                WHEN 2 THEN
                    ' type="text" encoding="base64">'
                    || translate(encode(convert_to(value, 'UTF8'), 'base64'), E'\n', '') || '</col>'
                WHEN 1 THEN '><![CDATA[' || value || ']]></col>'
                ELSE '>' || value || '</col>'
            END
        END
