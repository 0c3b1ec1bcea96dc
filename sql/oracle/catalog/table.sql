-- The number of a table, and what may keep it from being watched; nothing of what is in the recycle bin. Manual: Database
-- Reference, "ALL_TABLES", "ALL_OBJECTS", "ALL_EXTERNAL_TABLES".
SELECT made.object_id, kept.temporary, kept.nested, NVL2(outside.table_name, 'YES', 'NO')
FROM all_tables kept
JOIN all_objects made ON made.owner = kept.owner AND made.object_name = kept.table_name AND made.object_type = 'TABLE'
LEFT JOIN all_external_tables outside ON outside.owner = kept.owner AND outside.table_name = kept.table_name
WHERE kept.owner = :schema AND kept.table_name = :name AND kept.dropped = 'NO'
