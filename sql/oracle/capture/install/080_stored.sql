-- The segments that hold the rows of each watched table now: of the table, of its partitions and their parts, or of the index that it
-- lies in. ALL_OBJECTS shows no partition to a user with rights on the table alone. Manual: Database Reference, "DBA_OBJECTS",
-- "ALL_INDEXES".
CREATE OR REPLACE VIEW {stored} (relid, object_id, data_object_id) AS
SELECT entry.relid, part.object_id, part.data_object_id
FROM {tables} entry
JOIN sys.dba_objects part ON part.owner = entry.schemaname AND part.object_name = entry.tablename
WHERE part.object_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION') AND part.data_object_id IS NOT NULL
UNION ALL
SELECT entry.relid, part.object_id, part.data_object_id
FROM {tables} entry
JOIN all_indexes home
    ON home.table_owner = entry.schemaname AND home.table_name = entry.tablename AND home.index_type = 'IOT - TOP'
JOIN sys.dba_objects part ON part.owner = home.owner AND part.object_name = home.index_name
WHERE part.object_type IN ('INDEX', 'INDEX PARTITION') AND part.data_object_id IS NOT NULL
