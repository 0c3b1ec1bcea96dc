-- Which table refers to which, by foreign keys.
SELECT child_schema.nspname, child.relname, parent_schema.nspname, parent.relname
FROM pg_constraint AS c
JOIN pg_class AS child ON child.oid = c.conrelid
JOIN pg_namespace AS child_schema ON child_schema.oid = child.relnamespace
JOIN pg_class AS parent ON parent.oid = c.confrelid
JOIN pg_namespace AS parent_schema ON parent_schema.oid = parent.relnamespace
WHERE c.contype = 'f'
