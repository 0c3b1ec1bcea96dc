-- What does something by itself when rows of a table are written: foreign keys, triggers of its own, rules. Without the
-- right to silence them they would do again what the master did. Those by which a slave that is a master itself captures
-- change nothing that is replicated.
WITH relation AS (
    SELECT class.oid, current_setting('session_replication_role') = 'replica' AS silent
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
)
SELECT conname AS name, 'key' AS kind, NOT silent AS fires
FROM relation JOIN pg_constraint ON conrelid = relation.oid AND contype = 'f'
UNION ALL
SELECT tgname, 'trigger', tgenabled = 'A' OR tgenabled = CASE WHEN silent THEN 'R' ELSE 'O' END
FROM relation JOIN pg_trigger ON tgrelid = relation.oid AND NOT tgisinternal
JOIN pg_proc AS function ON function.oid = tgfoid
WHERE NOT EXISTS (
    SELECT FROM pg_class AS queue
    WHERE queue.relnamespace = function.pronamespace AND queue.relkind = 'r'
      AND queue.relname = substring(function.proname FROM '^(.*)(?:capture_[0-9]+|mark_function|truncating)$') || 'queue')
UNION ALL
SELECT rulename, 'rule', ev_enabled = 'A' OR ev_enabled = CASE WHEN silent THEN 'R' ELSE 'O' END
FROM relation JOIN pg_rewrite ON ev_class = relation.oid AND ev_type <> '1'
