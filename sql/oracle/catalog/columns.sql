-- The columns of a table: also invisible ones, but none that the server made by itself. Manual: Database Reference, "ALL_TAB_COLS".
SELECT column_name, data_type, data_type_owner, data_length, data_precision, data_scale, char_length, char_used, nullable,
       virtual_column, hidden_column
FROM all_tab_cols
WHERE owner = :schema AND table_name = :name AND (hidden_column = 'NO' OR user_generated = 'YES')
ORDER BY internal_column_id
