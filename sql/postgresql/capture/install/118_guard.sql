-- Refuses to take changes out of the queue that no slave has: a mistaken DELETE or TRUNCATE would lose them in silence (R9).
CREATE OR REPLACE FUNCTION {guard}() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $guard$
BEGIN
    RAISE EXCEPTION 'changes in % that are not published yet would be lost', TG_RELID::regclass
    USING HINT = 'Nothing was changed. Publishing takes them out. To give some up all the same: '
        'BEGIN; SET LOCAL sluice.purge = on; DELETE ...; COMMIT; then run initial_update for all slaves.';
END
$guard$
