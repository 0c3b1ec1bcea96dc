-- The columns of a table's primary key in its order, and what they are sorted by; how much of a column is in it, NULL for
-- all of it.
SELECT key_columns.column_name, columns.data_type, columns.character_set_name, columns.collation_name,
    key_columns.sub_part
FROM information_schema.statistics AS key_columns
JOIN information_schema.columns AS columns
    ON CAST(columns.table_schema AS BINARY) = CAST(key_columns.table_schema AS BINARY)
    AND CAST(columns.table_name AS BINARY) = CAST(key_columns.table_name AS BINARY)
    AND columns.column_name = key_columns.column_name
WHERE key_columns.table_schema = %(schema)s AND key_columns.table_name = %(table)s
    AND key_columns.index_name = 'PRIMARY'
ORDER BY key_columns.seq_in_index
