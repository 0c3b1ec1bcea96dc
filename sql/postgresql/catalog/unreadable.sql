-- Tables, or partitions of them, whose rows our role may not read, or not all of them.
WITH RECURSIVE tree (relid) AS (
    SELECT unnest({tables})
    UNION
    SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = relid JOIN pg_class ON oid = inhrelid AND relispartition
)
SELECT class.relname, row_security_active(class.oid)
FROM tree
JOIN pg_class AS class ON class.oid = tree.relid AND class.relkind IN ('r', 'p')
WHERE NOT has_table_privilege(class.oid, 'SELECT') OR row_security_active(class.oid)
ORDER BY 1
LIMIT 1
