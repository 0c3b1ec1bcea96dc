-- What a stage was made by, as one text a table: whether a crash leaves it, its columns, its keys, which of them are
-- checked late, and what acts by itself on its rows, with the functions that it calls.
SELECT namespace.nspname, class.relname, md5(concat(class.relpersistence,
    (SELECT string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attnotnull, atthasdef, attgenerated,
                                 attidentity, attisdropped), ',' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0),
    (SELECT string_agg(concat_ws(' ', indexrelid, indimmediate, indisvalid), ',' ORDER BY indexrelid)
     FROM pg_index WHERE indrelid = class.oid AND (indisunique OR indisexclusion)),
    (SELECT string_agg(concat_ws(' ', acts.oid, acts.xmin, function.xmin), ',' ORDER BY acts.oid)
     FROM pg_trigger AS acts JOIN pg_proc AS function ON function.oid = acts.tgfoid
     WHERE (acts.tgrelid = class.oid OR acts.tgrelid IN (SELECT relid FROM pg_partition_tree(class.oid)))
         AND NOT acts.tgisinternal),
    (SELECT string_agg(concat_ws(' ', oid, xmin), ',' ORDER BY oid) FROM pg_rewrite WHERE ev_class = class.oid),
    (SELECT string_agg(concat_ws(' ', oid, xmin), ',' ORDER BY oid)
     FROM pg_constraint WHERE conrelid = class.oid AND contype = 'f')))
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (nspname, relname)
JOIN pg_namespace AS namespace USING (nspname)
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted.relname
