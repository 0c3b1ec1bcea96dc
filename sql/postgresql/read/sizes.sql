-- About how large tables are with their partitions, as the planner reckons: by statistics, and by the sizes of files where nobody
-- has or awaits the lock that would keep us waiting. No row is read.
WITH RECURSIVE wanted AS (
    SELECT n, to_regclass(name)::oid AS relid FROM unnest(%(tables)s::text[]) WITH ORDINALITY AS named (name, n)
), tree AS (
    SELECT n, relid FROM wanted WHERE relid IS NOT NULL
    UNION ALL
    SELECT tree.n, child.inhrelid FROM tree
    JOIN pg_inherits AS child ON child.inhparent = tree.relid
    JOIN pg_class AS part ON part.oid = child.inhrelid AND part.relispartition
), held AS (
    SELECT relation FROM pg_locks
    WHERE mode = 'AccessExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
), sized AS (
    SELECT tree.n, class.oid, class.relkind, class.reltuples, class.relpages::bigint AS pages,
           current_setting('block_size')::bigint AS block, CASE WHEN class.relkind <> 'r' THEN 0
               WHEN class.oid IN (SELECT relation FROM held) THEN class.relpages * current_setting('block_size')::bigint
               ELSE pg_relation_size(class.oid) END AS heap,
           CASE WHEN class.relkind <> 'r' THEN 0
               WHEN class.oid IN (SELECT relation FROM held) THEN class.relpages * current_setting('block_size')::bigint
               ELSE pg_table_size(class.oid) END AS whole
    FROM tree JOIN pg_class AS class ON class.oid = tree.relid
), counted AS (
    SELECT n, whole, CASE
        WHEN heap = 0 THEN 0
        WHEN reltuples >= 0 AND pages > 0 THEN reltuples / pages * (heap / block)
        ELSE nullif(pg_stat_get_live_tuples(oid), 0) END AS rows
    FROM sized
)
SELECT n, CASE WHEN bool_and(rows IS NOT NULL) THEN round(sum(rows))::bigint END, sum(whole)::bigint
FROM counted GROUP BY n
