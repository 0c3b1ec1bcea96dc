-- NEEDS_PROT of Table 2.4: 0 plain, 1 CDATA, 2 base64 (what XML could not give back as it was).
CREATE OR REPLACE FUNCTION {needs_prot}(value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $needs_prot$
    SELECT CASE
        WHEN value OPERATOR(pg_catalog.~) E']]>|[\x01-\x08\x0b-\x1f\ufffe\uffff]' THEN 2
        WHEN value OPERATOR(pg_catalog.~) '[<&]' THEN 1
        ELSE 0
    END
$needs_prot$
