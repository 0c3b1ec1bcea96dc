-- The file of each relation, and who wrote its columns and our trigger of it into the catalog: a file that is another one with the same
-- columns and trigger has the same rows, or none.
SELECT
    class.oid::bigint,
    class.relfilenode::bigint::text,
    coalesce((SELECT string_agg(a.xmin::text, ' ' ORDER BY a.attnum) FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0), ''),
    coalesce((SELECT min(t.xmin::text) FROM pg_trigger AS t WHERE t.tgrelid = class.oid AND t.tgname::text = {trigger}::text), '')
FROM pg_class AS class
WHERE class.oid = ANY (%(relations)s::oid[])
