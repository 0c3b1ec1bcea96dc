-- Tables whose UPDATE and DELETE fail, or would, with REPLICA IDENTITY FULL: another publication leaves columns of the old row
-- out, by a list of columns, or, from PostgreSQL 18 on, since it has no generated ones.
WITH partial AS MATERIALIZED (
    SELECT oid, pubname, coalesce(to_jsonb(publication) ->> 'pubgencols' = 'n', false) AS lacks_generated
    FROM pg_publication AS publication
    WHERE (pubupdate OR pubdelete)
      AND (to_jsonb(publication) ->> 'pubgencols' = 'n'
           OR EXISTS (SELECT FROM pg_publication_rel WHERE prpubid = publication.oid AND prattrs IS NOT NULL))
)
SELECT beside.nspname, beside.relname, partial.pubname
FROM partial
CROSS JOIN LATERAL (
    SELECT namespace.nspname, class.relname
    FROM unnest({tables}) AS wanted (relid)
    JOIN pg_class AS class ON class.oid = wanted.relid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    CROSS JOIN LATERAL (
        SELECT class.oid AS relid UNION SELECT relid FROM pg_partition_tree(class.oid) WHERE class.relkind = 'p'
    ) AS tree
    CROSS JOIN LATERAL (
        SELECT tree.relid::oid AS relid UNION SELECT above::oid FROM pg_partition_ancestors(tree.relid) AS above
    ) AS named
    WHERE EXISTS (
        SELECT FROM pg_publication_rel AS listed
        WHERE listed.prpubid = partial.oid AND listed.prrelid = named.relid AND listed.prattrs IS NOT NULL)
       OR partial.lacks_generated
      AND EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = tree.relid AND a.attgenerated = 's' AND NOT a.attisdropped)
      AND EXISTS (
        SELECT FROM pg_publication_tables AS shown
        WHERE shown.pubname = partial.pubname
          AND to_regclass(format('%I.%I', shown.schemaname, shown.tablename))::oid = named.relid)
) AS beside
ORDER BY 1, 2, 3
LIMIT 1
