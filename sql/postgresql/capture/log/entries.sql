-- Actions of the relations that have layouts, by their numbers: what waits in the slot was written when a table may have had
-- another name, and another one may have that now. Of those that are watched no more the configuration tells, by their last name.
WITH watched AS (
    SELECT unnest(known.partitions || known.relid) AS relid, coalesce(entry.actions, 'IUD') AS actions
    FROM {current_tables} AS known
    JOIN {tables} AS entry USING (relid)
), gone AS MATERIALIZED (
    SELECT DISTINCT ON (relid) relid, schemaname, tablename
    FROM {layouts} AS layout
    WHERE relid NOT IN (SELECT relid FROM watched)
    ORDER BY relid, repl_key DESC
), named AS MATERIALIZED (
    SELECT name.schemaname, name.tablename, coalesce(wanted.actions, entry.actions, 'IUD') AS actions
    FROM (SELECT DISTINCT schemaname, tablename FROM gone) AS name
    LEFT JOIN LATERAL {wants}(name.schemaname::text, name.tablename::text) AS wanted ON true
    LEFT JOIN {tables} AS entry ON (entry.schemaname, entry.tablename) = (name.schemaname, name.tablename)
)
SELECT relid::bigint, rtrim(actions) FROM watched
UNION ALL
SELECT relid::bigint, rtrim(actions) FROM gone JOIN named USING (schemaname, tablename)
