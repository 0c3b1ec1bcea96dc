-- What a stage was made by, as one text a table: its columns, its keys, and which of them are checked late.
SELECT namespace.nspname, class.relname, md5(concat(
    (SELECT string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attnotnull, atthasdef, attgenerated,
                                 attidentity, attisdropped), ',' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0),
    (SELECT string_agg(concat_ws(' ', indexrelid, indimmediate, indisvalid), ',' ORDER BY indexrelid)
     FROM pg_index WHERE indrelid = class.oid AND (indisunique OR indisexclusion))))
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
