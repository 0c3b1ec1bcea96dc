-- COLS_VIEW of the guide: what the tables that are wanted are like now, to be compared with what {current_tables} keeps.
CREATE OR REPLACE VIEW {cols_view} AS
SELECT class.oid AS relid, namespace.nspname::text AS schemaname, class.relname::text AS relname,
       {table_definition}(class.oid::oid) AS definition, {partitions}(class.oid::oid) AS partitions
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.oid IN (
        SELECT living.relid FROM ({eligible}) AS living
        WHERE EXISTS (SELECT FROM {wants}(living.schemaname::text, living.relname::text)))
   OR class.oid IN (SELECT relid FROM {tables})
   OR class.relkind IN ('r', 'p') AND class.relpersistence <> 't'
      AND (namespace.nspname, class.relname) IN (
        SELECT entry.schemaname::name, entry.tablename::name FROM {tables} AS entry WHERE entry.status = 'WANTED')
