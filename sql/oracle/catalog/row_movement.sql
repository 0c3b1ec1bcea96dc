-- Whether FLASHBACK TABLE may change rows of a table, which fires no trigger. Manual: Database Reference, "ALL_TABLES"; SQL Language
-- Reference, "FLASHBACK TABLE".
SELECT kept.row_movement FROM all_tables kept WHERE kept.owner = :schema AND kept.table_name = :name
