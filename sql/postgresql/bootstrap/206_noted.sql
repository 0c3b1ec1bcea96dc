-- Relations that one event of a statement has noted for a later one; a rollback takes the note along. Of each prefix its
-- own: two may watch the same table.
CREATE OR REPLACE FUNCTION {noted}(note text) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $noted$
    SELECT coalesce(nullif(current_setting({note_name} || note, true), ''), '{{ }}')::oid[]
$noted$
