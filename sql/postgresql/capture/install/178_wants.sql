-- The entry that decides about a table: one of the registry that waits for it to be made, else one of the configuration that
-- names it, else an exclusion, else the longest wildcard. None, or one that excludes it, and it is not wanted.
CREATE OR REPLACE FUNCTION {wants}(schema text, name text) RETURNS SETOF {wanted}
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $wants$
    SELECT best.schemaname, best.tablename, best.wildcard, best.excluded, best.actions, best.trigger_name, best.debug,
           best.old_images
    FROM (
        SELECT * FROM (
            SELECT false AS listed, entry.*
            FROM {wanted} AS entry
            WHERE entry.schemaname = schema
              AND CASE WHEN entry.wildcard THEN starts_with(name, entry.tablename) ELSE name = entry.tablename END
            UNION ALL
            SELECT true, entry.schemaname, entry.tablename, false, false, rtrim(coalesce(entry.actions, 'IUD')),
                   nullif(entry.trigger_name, {trigger_name}), entry.debug, entry.old_images
            FROM {tables} AS entry
            WHERE (entry.schemaname, entry.tablename, entry.status) = (schema, name, 'WANTED')
        ) AS entry
        ORDER BY entry.listed DESC, entry.wildcard, entry.excluded DESC, length(entry.tablename) DESC
        LIMIT 1
    ) AS best
    WHERE NOT best.excluded
$wants$
