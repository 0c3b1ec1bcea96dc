-- Holds a relation, and what is below it, before it is read by its name; false if that name is no more its own. Who has asked before
-- the lock was granted knows nothing: whoever kept us waiting could give the name to something of his, or put a policy on it.
CREATE OR REPLACE FUNCTION {held}(relation oid, name text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $held$
BEGIN
    EXECUTE 'LOCK TABLE ' || name || ' IN ACCESS SHARE MODE';
    RETURN to_regclass(name) IS NOT DISTINCT FROM relation::regclass;
EXCEPTION WHEN undefined_table OR invalid_schema_name OR wrong_object_type THEN
    RETURN false;
END
$held$
