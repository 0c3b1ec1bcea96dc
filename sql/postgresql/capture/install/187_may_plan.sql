-- See that nobody else's code runs when a query of a table is planned. Queries of ours have this among their conditions, which says
-- IMMUTABLE of itself: so the planner calls it whenever it makes a plan, before it looks at the table, and a plan that is kept
-- asks no more. What it calls looks at the catalog as it is by then.
CREATE OR REPLACE FUNCTION {may_plan}(relation oid) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $may_plan$
BEGIN
    RETURN {expect_own_code}(relation::oid);
END
$may_plan$
