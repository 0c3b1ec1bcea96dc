-- Runs before {dropping}, whose name sorts after this one, as whoever drops a table: who may not, has nothing locked and read.
CREATE OR REPLACE FUNCTION {dropper}() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $dropper$
BEGIN
    PERFORM set_config('sluice.dropper', current_user, true);
END
$dropper$
