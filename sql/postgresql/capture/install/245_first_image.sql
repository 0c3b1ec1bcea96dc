-- The first image of a relation that was written after its columns changed, NULL if there is none, and whether that is
-- certain: images on both sides must differ in their number of fields, and columns only have come, or only gone, since else
-- what they were in between may have had as many. Nor is it where an update has no old image, and what says that its key
-- stayed (see {capture_function}) looked at other columns.
CREATE OR REPLACE FUNCTION {first_image}(leaf oid, root oid, before jsonb, after jsonb, OUT first bigint, OUT certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $first_image$
    WITH image AS (
        SELECT repl_key, (
            SELECT count(*)
            FROM regexp_matches(substr(text, 2, length(text) - 2) || ',', '("(?:[^"]|"")*"|[^",]*),', 'g')) AS width
        FROM {queue}
        CROSS JOIN LATERAL (SELECT coalesce(content, oldcontent) AS text) AS written
        WHERE relid = leaf AND db_action::"char" IN ('I', 'U', 'D')
    ), shape AS (
        SELECT
            old = new AS same,
            old_numbers @> new_numbers OR new_numbers @> old_numbers AS one_way,
            NOT EXISTS (SELECT FROM {layouts} WHERE relid = leaf) AS fresh,
            jsonb_array_length(before -> 'columns') AS old_width,
            jsonb_array_length(after -> 'columns') AS new_width,
            EXISTS (
                SELECT FROM pg_attribute AS a
                WHERE a.attrelid = root AND a.attisdropped
                  AND a.attnum > (SELECT max((c ->> 'number')::int) FROM jsonb_array_elements(before -> 'columns') AS c))
                AS hidden,
            before -> 'key' = after -> 'key' AS same_key,
            EXISTS (
                SELECT FROM jsonb_array_elements(before -> 'columns') AS c
                WHERE before -> 'key' @> (c -> 'name') AND NOT EXISTS (
                    SELECT FROM jsonb_array_elements(after -> 'columns') AS d
                    WHERE (d -> 'number', d -> 'name') = (c -> 'number', c -> 'name'))) AS renamed,
            EXISTS (SELECT FROM {queue} WHERE relid = leaf AND db_action::"char" = 'U' AND oldcontent IS NULL) AS without
        FROM (
            SELECT
                (SELECT coalesce(jsonb_agg(jsonb_build_array(c -> 'number', c -> 'type')), '[]')
                 FROM jsonb_array_elements(before -> 'columns') AS c) AS old,
                (SELECT coalesce(jsonb_agg(jsonb_build_array(c -> 'number', c -> 'type')), '[]')
                 FROM jsonb_array_elements(after -> 'columns') AS c) AS new,
                jsonb_path_query_array(before, '$.columns[*].number') AS old_numbers,
                jsonb_path_query_array(after, '$.columns[*].number') AS new_numbers
        ) AS pairs
    ), cut AS (
        SELECT CASE WHEN shape.fresh THEN (SELECT min(repl_key) FROM image)
                    WHEN NOT shape.same THEN (SELECT min(repl_key) FROM image WHERE width = new_width) END AS first
        FROM shape
    )
    SELECT cut.first,
           NOT (shape.without AND (shape.renamed OR NOT (shape.same OR shape.same_key)))
           AND (shape.same
                OR NOT EXISTS (SELECT FROM image)
                OR shape.one_way AND NOT shape.hidden AND (shape.fresh OR shape.old_width <> shape.new_width) AND NOT EXISTS (
                    SELECT FROM image
                    WHERE width <> CASE WHEN repl_key >= cut.first THEN shape.new_width ELSE shape.old_width END))
    FROM shape CROSS JOIN cut
$first_image$
