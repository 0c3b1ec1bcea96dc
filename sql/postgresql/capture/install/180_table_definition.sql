-- What a table is, in the form in which commands carry it; NULL for what is none, or has no column. It is the same whoever alters a
-- table: its defaults, checks and types are printed under the settings of our own sessions (R7). Its joins are done in the order in
-- which they stand, which is a good one: to look for a better one takes longer than all of it.
CREATE OR REPLACE FUNCTION {table_definition}(relation oid) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET join_collapse_limit = 1
{printed}
AS $table_definition$
    SELECT known.definition
    FROM ({definition}) AS known
    WHERE known.relid = relation
      AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped)
$table_definition$
