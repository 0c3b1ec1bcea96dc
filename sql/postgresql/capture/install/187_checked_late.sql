-- A table, and those of its partitions that hold rows, of which a constraint is checked only at commit, or one that refers
-- to it. A partition may have one for itself.
CREATE OR REPLACE FUNCTION {checked_late}(root oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $checked_late$
    SELECT member
    FROM unnest({partitions}(root::oid) || root) AS member
    WHERE member IN (SELECT unnest(ARRAY[conrelid, confrelid]) FROM pg_constraint WHERE condeferrable AND contype <> 't')
$checked_late$
