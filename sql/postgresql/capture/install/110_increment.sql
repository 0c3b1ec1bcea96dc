-- INCREMENT of Table 2.4: the next unique key.
CREATE OR REPLACE FUNCTION {increment}() RETURNS bigint LANGUAGE sql VOLATILE AS $increment$
    SELECT pg_catalog.nextval({seq_name}::pg_catalog.regclass)
$increment$
