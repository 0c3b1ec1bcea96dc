-- Tables whose rows the server writes by itself, past triggers, or does not show as they are; in words. Manual: Database Reference,
-- "ALL_MVIEWS", "ALL_MVIEW_LOGS", "ALL_TABLES", "ALL_TAB_COLS"; SQL Language Reference, "CREATE TABLE", "row_archival_clause",
-- "index_org_table_clause".
SELECT 'the rows of a materialized view, which a refresh writes' AS obstacle
FROM all_mviews made
WHERE made.owner = :schema AND made.container_name = :name
UNION ALL
SELECT 'the log of a materialized view'
FROM all_mview_logs made
WHERE made.log_owner = :schema AND made.log_table = :name
UNION ALL
SELECT 'a part of an index-organized table'
FROM all_tables kept
WHERE kept.owner = :schema AND kept.table_name = :name AND kept.iot_type IN ('IOT_OVERFLOW', 'IOT_MAPPING')
UNION ALL
SELECT 'a part of an index of an application domain'
FROM all_tables kept
WHERE kept.owner = :schema AND kept.table_name = :name AND kept.secondary = 'Y'
UNION ALL
SELECT 'index-organized with a LONG, whose rows have no address that stays'
FROM all_tables kept
JOIN all_tab_cols part ON part.owner = kept.owner AND part.table_name = kept.table_name
WHERE kept.owner = :schema AND kept.table_name = :name AND kept.iot_type = 'IOT' AND part.data_type IN ('LONG', 'LONG RAW')
UNION ALL
SELECT 'under ROW ARCHIVAL, so a query does not show every row'
FROM all_tab_cols part
WHERE part.owner = :schema AND part.table_name = :name AND part.column_name = 'ORA_ARCHIVE_STATE' AND part.hidden_column = 'YES'
