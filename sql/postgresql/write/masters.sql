-- The masters that this slave's database is itself, and the last key that each has given out (0: not known).
SELECT wanted.schema, wanted.prefix,
       CASE WHEN has_sequence_privilege(seq.oid, 'SELECT, USAGE') THEN coalesce(pg_sequence_last_value(seq.oid), 0) ELSE 0 END
FROM unnest(%(schemas)s::text[], %(prefixes)s::text[]) AS wanted (schema, prefix)
JOIN pg_namespace AS namespace ON namespace.nspname = wanted.schema
JOIN pg_class AS queue ON queue.relnamespace = namespace.oid AND queue.relname = wanted.prefix || 'queue' AND queue.relkind = 'r'
JOIN pg_class AS seq ON seq.relnamespace = namespace.oid AND seq.relname = wanted.prefix || 'seq' AND seq.relkind = 'S'
