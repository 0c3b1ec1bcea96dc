-- The columns of a table in their order, and the place of each in the primary key. A default may be an expression: a row
-- that we write has all columns.
SELECT columns.column_name, columns.column_type, columns.collation_name, columns.is_nullable,
    TRIM(REPLACE(columns.extra, 'DEFAULT_GENERATED', '')),
    key_columns.ordinal_position
FROM information_schema.columns AS columns
LEFT JOIN information_schema.key_column_usage AS key_columns
    ON key_columns.table_schema = columns.table_schema AND key_columns.table_name = columns.table_name
    AND key_columns.column_name = columns.column_name AND key_columns.constraint_name = 'PRIMARY'
WHERE columns.table_schema = %(schema)s AND columns.table_name = %(table)s
ORDER BY columns.ordinal_position
