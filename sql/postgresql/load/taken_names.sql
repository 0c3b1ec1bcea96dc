-- Names for keys and indexes of a table which other relations of its schema have already. Each comes with its table.
SELECT class.relname, coalesce(quote_ident(%(schema)s) || '.' || quote_ident(owner.relname), '')
FROM pg_class AS class
LEFT JOIN pg_index AS index ON index.indexrelid = class.oid
LEFT JOIN pg_class AS owner ON owner.oid = index.indrelid
WHERE class.relnamespace = to_regnamespace(quote_ident(%(schema)s)) AND class.relname = ANY(%(names)s)
  AND owner.relname IS DISTINCT FROM %(table)s
ORDER BY 1
