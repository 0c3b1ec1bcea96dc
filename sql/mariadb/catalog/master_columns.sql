-- The columns of a master's table in their order, the place of each in the primary key, and whether it counts. Of one
-- whose name or members are no text (halves of pairs of UTF-16) the type is not known.
SELECT CONVERT(CONVERT(columns.column_name USING utf16) USING utf8mb4),
    IF(CAST(CONCAT(columns.column_name, columns.column_type) AS BINARY)
        = CAST(CONVERT(CONVERT(CONCAT(columns.column_name, columns.column_type) USING utf16) USING utf8mb4) AS BINARY),
        columns.data_type, 'no text'),
    CONVERT(CONVERT(columns.column_type USING utf16) USING utf8mb4), columns.character_maximum_length,
    columns.numeric_precision, columns.numeric_scale, columns.datetime_precision, columns.is_nullable,
    columns.extra LIKE '%%VIRTUAL GENERATED%%' OR columns.extra LIKE '%%STORED GENERATED%%', key_columns.ordinal_position,
    columns.extra LIKE '%%auto_increment%%'
FROM information_schema.columns AS columns
JOIN information_schema.tables AS tables
    ON CAST(tables.table_schema AS BINARY) = CAST(columns.table_schema AS BINARY)
    AND CAST(tables.table_name AS BINARY) = CAST(columns.table_name AS BINARY)
LEFT JOIN information_schema.key_column_usage AS key_columns
    ON CAST(key_columns.table_schema AS BINARY) = CAST(columns.table_schema AS BINARY)
    AND CAST(key_columns.table_name AS BINARY) = CAST(columns.table_name AS BINARY)
    AND key_columns.column_name = columns.column_name AND key_columns.constraint_name = 'PRIMARY'
WHERE columns.table_schema = %(schema)s AND columns.table_name = %(table)s AND tables.table_type = 'BASE TABLE'
ORDER BY columns.ordinal_position
