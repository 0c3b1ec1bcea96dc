-- The types, among those that columns reached and still reach, whose values are other ones by now; NULL if there are none. A label
-- more is no change: no row has it.
CREATE OR REPLACE FUNCTION {types_altered}(known jsonb, now jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $types_altered$
    SELECT string_agg(format_type(was.type::oid, NULL), ', ' ORDER BY was.type::oid)
    FROM jsonb_each(known) AS was (type, made)
    WHERE now ? was.type
      AND CASE jsonb_typeof(was.made) WHEN 'object' THEN NOT now -> was.type @> was.made ELSE now -> was.type <> was.made END
$types_altered$
