-- Relations that this transaction may have altered or dropped: it holds locks on them as DDL takes them, or it has written
-- their schema's name, that of a type of theirs, or what such a type is made of. What others did to tables is not among them.
SELECT relation
FROM pg_catalog.pg_locks
WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'relation'
  AND mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
UNION ALL
SELECT class.oid
FROM pg_catalog.pg_class AS class
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = class.oid
JOIN (
    SELECT oid, xmin FROM pg_catalog.pg_namespace
    UNION ALL
    SELECT oid, xmin FROM pg_catalog.pg_type
) AS named ON named.oid IN (class.relnamespace, a.atttypid)
WHERE CASE WHEN pg_catalog.age(named.xmin) <= 0 THEN pg_catalog.pg_xact_status((
          pg_catalog.pg_current_xact_id()::text::bigint - pg_catalog.age(named.xmin))::text::xid8) = 'in progress' END
UNION ALL
SELECT known.relid
FROM {current_tables} AS known
WHERE known.types OPERATOR(pg_catalog.?|) ARRAY(
    SELECT made.type::text
    FROM (
        SELECT enumtypid AS type, xmin FROM pg_catalog.pg_enum
        UNION ALL
        SELECT class.reltype, a.xmin
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS class ON class.oid = a.attrelid
    ) AS made
    WHERE CASE WHEN pg_catalog.age(made.xmin) <= 0 THEN pg_catalog.pg_xact_status((
          pg_catalog.pg_current_xact_id()::text::bigint - pg_catalog.age(made.xmin))::text::xid8) = 'in progress' END)
