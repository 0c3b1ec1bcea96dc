-- The entry of the configuration that decides about a table: one that names it, else an exclusion, else the longest
-- wildcard. None, or one that excludes it, and it is not wanted.
CREATE OR REPLACE FUNCTION {wants}(schema text, name text) RETURNS SETOF {wanted}
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $wants$
    SELECT best.*
    FROM (
        SELECT entry.*
        FROM {wanted} AS entry
        WHERE entry.schemaname = schema
          AND CASE WHEN entry.wildcard THEN starts_with(name, entry.tablename) ELSE name = entry.tablename END
        ORDER BY entry.wildcard, entry.excluded DESC, length(entry.tablename) DESC
        LIMIT 1
    ) AS best
    WHERE NOT best.excluded
$wants$
