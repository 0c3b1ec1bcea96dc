-- What a stage was made by, as one text a table: its columns, and which of its keys are checked late.
SELECT namespace.nspname, class.relname, md5(concat(
    (SELECT string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attnotnull, atthasdef, attgenerated,
                                 attidentity, attisdropped), ',' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0),
    (SELECT string_agg(concat_ws(' ', oid, condeferrable), ',' ORDER BY oid)
     FROM pg_constraint WHERE conrelid = class.oid AND contype IN ('p', 'u', 'x'))))
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
