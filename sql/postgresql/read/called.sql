-- What the relation of this number is called in this session's snapshot; no row if it was dropped.
SELECT namespace.nspname, class.relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.oid = %(relation)s::oid
