-- What does something by itself when rows of a table are written: foreign keys, triggers of its own, rules. Without the
-- right to silence them they would do again what the master did. Those by which a slave that is a master itself captures
-- change nothing that is replicated: no row, and nothing with our rights. Such a trigger is known by its function's owner, who
-- is a member of our role, or of the table's owner: anybody can give a function a name. Nor does a foreign key without actions
-- change anything, which is looked at when the transaction ends.
-- `strange` says what acts in every session of ours and with our rights, though others made it: members of our role, as every
-- superuser is of each, could do as we do anyway. A rule is its table's owner's. `ending` is what an ALTER TABLE ends it with.
-- The last columns are the table that it is on: a partition's triggers of rows see those that come by the table.
WITH relation AS (
    SELECT class.oid, class.relowner, namespace.nspname, class.relname,
           current_setting('session_replication_role') = 'replica' AS silent
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
), fired AS (
    SELECT oid, relowner, nspname, relname, silent, 0 AS kinds FROM relation
    UNION ALL
    SELECT class.oid, class.relowner, namespace.nspname, class.relname, silent, 1
    FROM relation
    JOIN pg_partition_tree(relation.oid) AS part ON part.relid <> relation.oid
    JOIN pg_class AS class ON class.oid = part.relid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
)
SELECT conname AS name, 'key' AS kind, NOT silent AS fires, NULL AS strange, CASE
    WHEN (confupdtype, confdeltype) = ('a', 'a') THEN format('ALTER CONSTRAINT %%I DEFERRABLE INITIALLY DEFERRED', conname)
    ELSE format('DROP CONSTRAINT %%1$I, ADD CONSTRAINT %%1$I %%2$s', conname, regexp_replace(
        pg_get_constraintdef(c.oid),
        '( ON UPDATE (CASCADE|RESTRICT|SET NULL|SET DEFAULT))?( ON DELETE (CASCADE|RESTRICT|SET (NULL|DEFAULT)( \(.*\))?))?'
            '( DEFERRABLE)?( INITIALLY DEFERRED)?( NOT VALID)?$',
        ' DEFERRABLE INITIALLY DEFERRED\9'))
    END AS ending, nspname, relname
FROM relation JOIN pg_constraint AS c ON conrelid = relation.oid AND contype = 'f'
WHERE NOT ((confupdtype, confdeltype, condeferred) = ('a', 'a', true))
  AND pg_get_constraintdef(c.oid) NOT LIKE '%% NOT ENFORCED'
UNION ALL
SELECT tgname, 'trigger', tgenabled = 'A' OR tgenabled = CASE WHEN silent THEN 'R' ELSE 'O' END,
       CASE WHEN tgenabled IN ('A', 'R') AND NOT pg_has_role(function.proowner, current_user, 'MEMBER')
            THEN format('%%s of %%I', function.oid::regprocedure, pg_get_userbyid(function.proowner)) END,
       format('DISABLE TRIGGER %%I', tgname), nspname, relname
FROM fired JOIN pg_trigger ON tgrelid = fired.oid AND NOT tgisinternal AND tgtype & kinds = kinds
JOIN pg_proc AS function ON function.oid = tgfoid
-- One that a partition has from its table is named once, unless it was enabled apart.
WHERE NOT EXISTS (
    SELECT FROM pg_trigger AS above
    WHERE kinds = 1 AND above.oid = pg_trigger.tgparentid AND above.tgenabled = pg_trigger.tgenabled)
  AND NOT EXISTS (
    SELECT FROM pg_class AS queue
    WHERE queue.relnamespace = function.pronamespace AND queue.relkind = 'r'
      AND queue.relname = substring(function.proname FROM '^(.*)(?:capture_[0-9]+|mark_function|truncating)$') || 'queue'
      AND (pg_has_role(function.proowner, current_user, 'MEMBER')
           OR (pg_has_role(function.proowner, fired.relowner, 'MEMBER') AND function.prosecdef AND tgtype & 3 <> 3)))
UNION ALL
SELECT rulename, 'rule', ev_enabled = 'A' OR ev_enabled = CASE WHEN silent THEN 'R' ELSE 'O' END,
       CASE WHEN ev_enabled IN ('A', 'R') AND NOT pg_has_role(relowner, current_user, 'MEMBER')
            THEN format('a rule of %%I', pg_get_userbyid(relowner)) END,
       format('DISABLE RULE %%I', rulename), nspname, relname
FROM relation JOIN pg_rewrite ON ev_class = relation.oid AND ev_type <> '1'
