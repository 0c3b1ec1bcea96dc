-- Indexes of a table that no constraint made: name, whether unique, and the definition from USING on.
SELECT index_class.relname AS name, i.indisunique AS is_unique,
       substr(whole.text, strpos(whole.text, on_table.text) + length(on_table.text)) AS definition
FROM pg_index AS i
JOIN pg_class AS index_class ON index_class.oid = i.indexrelid
JOIN pg_class AS class ON class.oid = i.indrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL (SELECT pg_get_indexdef(i.indexrelid) AS text) AS whole
CROSS JOIN LATERAL (
    SELECT concat(CASE WHEN class.relkind = 'p' THEN ' ON ONLY ' ELSE ' ON ' END,
                  CASE WHEN namespace.oid = pg_my_temp_schema() THEN 'pg_temp' ELSE quote_ident(namespace.nspname) END,
                  '.', quote_ident(class.relname), ' ') AS text
) AS on_table
WHERE i.indrelid = {relation}
  AND i.indisvalid
  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
ORDER BY index_class.relname
