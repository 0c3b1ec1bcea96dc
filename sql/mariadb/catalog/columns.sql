-- The columns of a table in their order, and the place of each in the primary key. A default may be an expression: a row
-- that we write has all columns. The catalog of MariaDB compares names of tables without their case, which the server does not.
SELECT columns.column_name, columns.column_type, columns.collation_name, columns.is_nullable,
    TRIM(REPLACE(columns.extra, 'DEFAULT_GENERATED', '')),
    key_columns.ordinal_position
FROM information_schema.columns AS columns
LEFT JOIN information_schema.key_column_usage AS key_columns
    ON CAST(key_columns.table_schema AS BINARY) = CAST(columns.table_schema AS BINARY)
    AND CAST(key_columns.table_name AS BINARY) = CAST(columns.table_name AS BINARY)
    AND key_columns.column_name = columns.column_name AND key_columns.constraint_name = 'PRIMARY'
WHERE columns.table_schema = %(schema)s AND columns.table_name = %(table)s
ORDER BY columns.ordinal_position
