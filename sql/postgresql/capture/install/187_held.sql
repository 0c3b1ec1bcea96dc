-- Holds a relation, and what is below it, before it is read by its name; false if that name is not its own any more. A look before
-- the lock is granted tells nothing: who keeps us waiting can give the name to something of his, or put a policy on the table.
CREATE OR REPLACE FUNCTION {held}(relation oid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $held$
DECLARE
    name text := relation::regclass;
BEGIN
    EXECUTE 'LOCK TABLE ' || name || ' IN ACCESS SHARE MODE';
    RETURN to_regclass(name) IS NOT DISTINCT FROM relation::regclass;
EXCEPTION WHEN undefined_table OR invalid_schema_name OR wrong_object_type THEN
    RETURN false;
END
$held$
