-- The columns that images of a table list now, in attribute order. One may hold NULL although NOT NULL is said of it, where that
-- is not valid.
CREATE OR REPLACE FUNCTION {listed}(relation oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $listed$
    SELECT jsonb_agg(
        jsonb_build_array(attname, format_type(atttypid, atttypmod), attnotnull AND NOT EXISTS (
            SELECT FROM pg_constraint
            WHERE conrelid = attrelid AND contype = 'n' AND NOT convalidated AND conkey = ARRAY[attnum]
        ), attgenerated <> '') ORDER BY attnum)
    FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
$listed$
