-- Tables whose old images are stored whole all the same, and why: the trigger function would name the columns of a key.
WITH RECURSIVE tree (root, relid) AS (
    SELECT relid, relid FROM unnest({tables}) AS relid
    UNION
    SELECT root, inhrelid
    FROM tree JOIN pg_inherits ON inhparent = relid JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT namespace.nspname, class.relname, found.why
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN NOT {seen} THEN 'whose DDL is found by polling'
        WHEN NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = class.oid AND contype = 'p')
        THEN 'which has no primary key'
        WHEN EXISTS (
            SELECT FROM tree JOIN pg_constraint ON tree.relid IN (conrelid, confrelid)
            WHERE tree.root = class.oid AND condeferrable AND contype <> 't')
        THEN 'of which a constraint is checked at commit'
    END
) AS found (why)
WHERE class.oid = ANY ({tables}) AND found.why IS NOT NULL
ORDER BY 1, 2
