-- Indexes that no constraint made: name, whether unique, and the definition from USING on.
SELECT
    index_class.relname,
    i.indisunique,
    substr(
        pg_get_indexdef(i.indexrelid),
        strpos(pg_get_indexdef(i.indexrelid), on_table.text) + length(on_table.text))
FROM pg_index AS i
JOIN pg_class AS index_class ON index_class.oid = i.indexrelid
JOIN pg_class AS class ON class.oid = i.indrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL (
    SELECT format(CASE WHEN class.relkind = 'p' THEN ' ON ONLY %%I.%%I ' ELSE ' ON %%I.%%I ' END,
                  CASE WHEN namespace.oid = pg_my_temp_schema() THEN 'pg_temp' ELSE namespace.nspname END, class.relname) AS text
) AS on_table
WHERE i.indrelid = %(relation)s::regclass
  AND i.indisvalid
  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
ORDER BY index_class.relname
