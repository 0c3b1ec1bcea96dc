-- The table that bore a name while it was watched, and bears another today; nothing while the name is in use.
SELECT namespace.nspname, class.relname
FROM {layouts} AS layout
JOIN {tables} AS entry USING (relid)
JOIN pg_class AS class ON class.oid = entry.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE layout.schemaname = %(schema)s AND layout.tablename = %(table)s
  AND NOT EXISTS (
    SELECT FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s)
ORDER BY layout.repl_key DESC
LIMIT 1
