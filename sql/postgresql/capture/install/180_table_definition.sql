-- What a table is, in the form in which commands carry it; NULL for what is none, or has no column. It is the same whoever alters a table: its
-- defaults, checks and types are printed under the settings of our own sessions (R7).
CREATE OR REPLACE FUNCTION {table_definition}(relation oid) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
{printed}
AS $table_definition$
    SELECT known.definition FROM ({definition}) AS known WHERE known.relid = relation AND known.definition -> 'columns' <> '[]'
$table_definition$
