-- Notes these relations, and no others any more.
CREATE OR REPLACE FUNCTION {note}(about text, relations oid[]) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $note$
    DELETE FROM {notes} WHERE trans_key = pg_current_xact_id() AND note = about;
    INSERT INTO {notes} (note, relid) SELECT about, unnest(relations);
$note$
