-- What a partitioned table's partitions need beside the row triggers, which they get from the table by themselves.
CREATE OR REPLACE FUNCTION {capture_partitions}(relation oid, trigger_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_partitions$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT at.relid::regclass AS target, trigger_name || at.suffix AS name, at.moment
        FROM (
            SELECT leaf, '_t', 'BEFORE' FROM unnest({partitions}(relation::oid)) AS leaf
            UNION ALL
            SELECT class.oid, ends.suffix, ends.moment
            FROM pg_class AS class
            CROSS JOIN (VALUES ('_b', 'BEFORE'), ('_e', 'AFTER')) AS ends (suffix, moment)
            WHERE class.oid = relation AND class.relkind = 'p'
        ) AS at (relid, suffix, moment)
        WHERE NOT EXISTS (
            SELECT FROM pg_trigger AS there
            WHERE tgrelid = at.relid AND tgname = trigger_name || at.suffix AND tgfoid = {truncating_name}::regprocedure
              AND {fires}(there::pg_trigger, (CASE at.moment WHEN 'BEFORE' THEN 34 ELSE 32 END)::integer))
    LOOP
        PERFORM {put_trigger}(
            made.target::regclass, made.name::text, (made.moment || ' TRUNCATE')::text, 'STATEMENT'::text,
            {truncating_name}::regprocedure);
    END LOOP;
END
$capture_partitions$
