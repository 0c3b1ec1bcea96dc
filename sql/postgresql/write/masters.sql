-- The masters that this slave's database is itself, the last key that each has given out (0: not known), and whether it is
-- captured by the server's log.
SELECT wanted.schema, wanted.prefix,
       CASE WHEN has_sequence_privilege(seq.oid, 'SELECT, USAGE') THEN coalesce(pg_sequence_last_value(seq.oid), 0) ELSE 0 END,
       EXISTS (SELECT FROM pg_publication WHERE pubname = wanted.publication)
FROM unnest(%(schemas)s::text[], %(prefixes)s::text[], %(publications)s::text[]) AS wanted (schema, prefix, publication)
JOIN pg_namespace AS namespace ON namespace.nspname = wanted.schema
JOIN pg_class AS queue ON queue.relnamespace = namespace.oid AND queue.relname = wanted.prefix || 'queue' AND queue.relkind = 'r'
JOIN pg_class AS seq ON seq.relnamespace = namespace.oid AND seq.relname = wanted.prefix || 'seq' AND seq.relkind = 'S'
