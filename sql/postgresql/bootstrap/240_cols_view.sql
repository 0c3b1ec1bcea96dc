-- COLS_VIEW of the guide: what the tables that are wanted are like now, to be compared with what {current_tables} keeps.
CREATE OR REPLACE VIEW {cols_view} AS
SELECT living.relid, living.schemaname::text AS schemaname, living.relname::text AS relname,
       {table_definition}(living.relid) AS definition, {partitions}(living.relid) AS partitions
FROM ({eligible}) AS living
WHERE EXISTS (SELECT FROM {wants}(living.schemaname, living.relname))
   OR living.relid IN (SELECT relid FROM {tables})
