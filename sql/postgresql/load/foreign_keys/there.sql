-- The foreign keys from and to these tables, or partitions of them, and what each is; whether our role may drop it.
-- `columns`: only those of other tables that refer to these columns.
WITH RECURSIVE wanted (relid) AS (
    SELECT class.oid
    FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS named (schema, "table")
    JOIN pg_namespace AS namespace ON namespace.nspname = named.schema
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = named."table"
), part (relid) AS (
    SELECT relid FROM wanted
    UNION SELECT tree.relid FROM wanted CROSS JOIN LATERAL pg_partition_tree(wanted.relid) AS tree
    UNION SELECT above.relid FROM wanted CROSS JOIN LATERAL pg_partition_ancestors(wanted.relid) AS above (relid)
)
SELECT child_schema.nspname, child.relname, c.conname, parent_schema.nspname, parent.relname,
       pg_get_constraintdef(c.oid), pg_has_role(child.relowner, 'USAGE')
FROM pg_constraint AS c
JOIN pg_class AS child ON child.oid = c.conrelid
JOIN pg_namespace AS child_schema ON child_schema.oid = child.relnamespace
JOIN pg_class AS parent ON parent.oid = c.confrelid
JOIN pg_namespace AS parent_schema ON parent_schema.oid = parent.relnamespace
WHERE c.contype = 'f' AND c.conparentid = 0
  AND (c.conrelid IN (SELECT relid FROM part) OR c.confrelid IN (SELECT relid FROM part))
  AND (%(columns)s::text[] IS NULL OR c.conrelid NOT IN (SELECT relid FROM part) AND EXISTS (
      SELECT FROM pg_attribute AS named
      WHERE named.attrelid = c.confrelid AND named.attnum = ANY(c.confkey) AND named.attname = ANY(%(columns)s::text[])
  ))
ORDER BY 1, 2, 3
