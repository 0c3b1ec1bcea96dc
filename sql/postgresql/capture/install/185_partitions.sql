-- The tables below a partitioned one that hold its rows; none for an ordinary table.
CREATE OR REPLACE FUNCTION {partitions}(relation oid) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $partitions$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'p') THEN ARRAY(
        SELECT class.oid
        FROM {tree}(relation::oid) AS tree (relid)
        JOIN pg_class AS class ON class.oid = tree.relid AND class.relkind = 'r'
        WHERE class.oid <> relation
        ORDER BY class.oid)
    ELSE '{{ }}' END
$partitions$
