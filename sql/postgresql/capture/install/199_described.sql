-- A definition as a command carries it, with what a slave needs to do the same. `filled`: what the rows that were there have
-- in a column that is new, where that is a value: a default that was computed once, when the column was added, is not
-- computed again anywhere. The settings are those of the triggers (R7). `rewritten`: every row follows the command, since the
-- ALTER computed values. `types`: those made by users that columns need which are new or of another type. `indexes`: those
-- that a new table has already.
CREATE OR REPLACE FUNCTION {described}(relation oid, before jsonb, after jsonb, rewritten boolean) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
{printed}
AS $described$
    WITH said AS (
        SELECT new.said, new.place, a.atttypid AS type,
               (made.it::text[])[1] AS filled,
               old.said ->> 'type' IS DISTINCT FROM new.said ->> 'type' AS other
        FROM jsonb_array_elements(after -> 'columns') WITH ORDINALITY AS new (said, place)
        LEFT JOIN jsonb_array_elements(before -> 'columns') AS old (said) ON old.said -> 'number' = new.said -> 'number'
        LEFT JOIN pg_attribute AS a ON a.attrelid = relation AND a.attnum = (new.said ->> 'number')::int
        -- Of a partitioned table its partitions have it. An array of one value, which is in quotes only where it has the
        -- delimiter of its type, for a box no comma.
        LEFT JOIN LATERAL (
            SELECT CASE WHEN part.attmissingval::text LIKE '{{"%' THEN part.attmissingval::text
                        ELSE regexp_replace(part.attmissingval::text, '^\{{(.*)\}}$', '{{"\1"}}') END AS it
            FROM pg_attribute AS part
            WHERE part.attrelid = ANY ({partitions}(relation::oid) || relation) AND part.attname = a.attname AND part.atthasmissing
            LIMIT 1
        ) AS made ON before IS NOT NULL AND old.said IS NULL
    )
    SELECT jsonb_strip_nulls(after || jsonb_build_object(
        'rewritten', nullif(rewritten, false),
        'columns', (SELECT jsonb_agg(said.said || jsonb_build_object('filled', said.filled) ORDER BY said.place) FROM said),
        'types', (SELECT jsonb_agg(to_jsonb(type)) FROM ({types}) AS type),
        'indexes', (SELECT jsonb_agg(jsonb_build_array(name, is_unique, definition) ORDER BY name)
                    FROM ({indexes}) AS index WHERE before IS NULL)))
$described$
