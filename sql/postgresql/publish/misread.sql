-- Watched tables whose columns are not those recorded last: an ALTER that no event trigger saw. Their images since then
-- cannot be told apart from older ones.
SELECT DISTINCT entry.schemaname, entry.tablename
FROM {tables} AS entry
JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
CROSS JOIN LATERAL (
    SELECT class.oid AS relid UNION SELECT relid::oid FROM pg_partition_tree(class.oid::regclass)
) AS tree
CROSS JOIN LATERAL {current_layout}(tree.relid) AS now
JOIN LATERAL (
    SELECT columns FROM {layouts} AS old WHERE old.relid = tree.relid ORDER BY old.repl_key DESC LIMIT 1
) AS last ON last.columns IS DISTINCT FROM now.columns
WHERE entry.status = 'OK'
