-- The layouts that tables have now.
SELECT coalesce(array_agg(DISTINCT repl_key ORDER BY repl_key), '{{ }}')
FROM (SELECT DISTINCT ON (relid) repl_key FROM {layouts} ORDER BY relid, repl_key DESC) AS newest
