-- Relations that this transaction has noted for a later event; a rollback takes the note along.
CREATE OR REPLACE FUNCTION {noted}(about text) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $noted$
    SELECT ARRAY(SELECT relid FROM {notes} WHERE trans_key = pg_current_xact_id_if_assigned() AND note = about)
$noted$
