-- Draws a transaction's last key at its commit, after every deferred check it may have waited in (R1).
CREATE OR REPLACE FUNCTION {mark_function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mark$
BEGIN
    INSERT INTO {queue} (repl_key, relid, db_action) VALUES (nextval({seq_name}::regclass), TG_RELID, 'C');
    RETURN NULL;
END
$mark$
