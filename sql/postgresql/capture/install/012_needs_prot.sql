-- NEEDS_PROT of Table 2.4: 0 plain, 1 CDATA, 2 base64 (what XML could not give back as it was). Before the first table:
-- with the sequence it tells other prefixes that tables with these names are ours, and no wildcard of theirs takes one. RETURN: names are
-- looked up when it is made, and never in the sessions that call it. The last two characters are not in the text itself, which a server of
-- another encoding could not read.
CREATE OR REPLACE FUNCTION {needs_prot}(value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN value ~ E']]>|[\x01-\x08\x0b-\x1f\\ufffe\\uffff]' THEN 2
        WHEN value ~ '[<&]' THEN 1
        ELSE 0
    END
