-- Foreign keys of a table: name, columns, the table and columns they refer to, and the rest of the definition.
SELECT
    c.conname,
    (SELECT array_agg(a.attname ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k (num, n)
     JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num),
    parent_schema.nspname,
    parent.relname,
    (SELECT array_agg(a.attname ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY AS k (num, n)
     JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.num),
    c.confupdtype, c.confdeltype, c.confmatchtype = 'f', c.condeferrable, c.condeferred
FROM pg_constraint AS c
JOIN pg_class AS parent ON parent.oid = c.confrelid
JOIN pg_namespace AS parent_schema ON parent_schema.oid = parent.relnamespace
WHERE c.conrelid = %(relation)s::regclass AND c.contype = 'f' AND c.conparentid = 0
ORDER BY c.conname
