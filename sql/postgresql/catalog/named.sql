-- What constraints and indexes of tables are called.
WITH relations AS MATERIALIZED (
    SELECT class.oid, namespace.nspname, class.relname
    FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
    JOIN pg_namespace AS namespace USING (nspname)
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
)
SELECT nspname, relname, conname FROM relations JOIN pg_constraint ON conrelid = relations.oid
UNION
SELECT relations.nspname, relations.relname, class.relname
FROM relations
JOIN pg_index ON indrelid = relations.oid
JOIN pg_class AS class ON class.oid = indexrelid
