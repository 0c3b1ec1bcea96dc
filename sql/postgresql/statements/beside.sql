-- What of a table does something by itself when a statement changes its rows, in words. A node that is no PostgreSQL has none
-- of it. Triggers by which Sluice captures change no row.
WITH relation AS (
    SELECT class.oid, class.relkind, class.relispartition, class.relrowsecurity
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
)
SELECT 'it is no table by itself: a view, a partition, or a table with heirs'
FROM relation
WHERE relkind <> 'r' OR relispartition OR EXISTS (SELECT FROM pg_inherits WHERE relation.oid IN (inhrelid, inhparent))
UNION ALL
SELECT 'policies hide rows of it' FROM relation WHERE relrowsecurity
UNION ALL
SELECT format('the trigger %%I', tgname)
FROM relation JOIN pg_trigger ON tgrelid = relation.oid AND NOT tgisinternal AND tgenabled <> 'D'
JOIN pg_proc AS function ON function.oid = tgfoid
WHERE NOT EXISTS (
    SELECT FROM pg_class AS queue
    WHERE queue.relnamespace = function.pronamespace AND queue.relkind = 'r'
      AND queue.relname = substring(function.proname FROM '^(.*)(?:capture_[0-9]+|mark_function|truncating)$') || 'queue'
      AND pg_has_role(function.proowner, current_user, 'MEMBER'))
UNION ALL
SELECT format('the foreign key %%I of %%s', conname, conrelid::regclass)
FROM relation JOIN pg_constraint ON confrelid = relation.oid AND contype = 'f'
WHERE confdeltype NOT IN ('a', 'r') OR confupdtype NOT IN ('a', 'r')
UNION ALL
SELECT format('the rule %%I', rulename)
FROM relation JOIN pg_rewrite ON ev_class = relation.oid AND ev_enabled <> 'D'
UNION ALL
-- Functions of others may do anything. A dependency on those of the catalog is not recorded.
SELECT format('a function or an operator of %%s', found.name)
FROM relation
CROSS JOIN LATERAL (
    SELECT conname::text, 'pg_constraint'::regclass, c.oid FROM pg_constraint AS c WHERE conrelid = relation.oid
    UNION ALL
    SELECT indexrelid::regclass::text, 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = relation.oid
    UNION ALL
    SELECT conname::text, 'pg_constraint'::regclass, c.oid
    FROM pg_attribute JOIN pg_constraint AS c ON contypid = atttypid
    WHERE attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
) AS found (name, kind, id)
WHERE EXISTS (
    SELECT FROM pg_depend
    WHERE classid = found.kind AND objid = found.id AND refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass))
UNION ALL
SELECT format('the type of %%I, a domain of a domain', attname)
FROM relation
JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
JOIN pg_type AS type ON type.oid = atttypid AND type.typtype = 'd'
JOIN pg_type AS base ON base.oid = type.typbasetype AND base.typtype = 'd'
