-- Trigger functions that an older version made, and that do not put in order what was captured late (R1), or do more than
-- they need, or take columns for variables of theirs, or call
-- functions without the types of their arguments, are made again.
SELECT {capture_function}(class.oid::oid, coalesce(entry.debug, 0)::integer)
FROM pg_proc AS made
JOIN pg_namespace AS namespace ON namespace.oid = made.pronamespace AND namespace.nspname = {schema_name}
JOIN pg_class AS class ON made.proname = {capture_name} || class.oid
LEFT JOIN {tables} AS entry ON entry.relid = class.oid
WHERE made.prosrc !~ 'freed .*RETURN nothing' OR strpos(made.prosrc, 'TRUNCATE') = 0 OR strpos(made.prosrc, '<<captured>>') = 0
   OR strpos(made.prosrc, 'TG_RELID::pg_catalog.oid') = 0
