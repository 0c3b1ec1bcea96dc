-- Foreign keys of a table whose rules the server does not show us, for want of a right on the database.
SELECT DISTINCT held.constraint_name FROM information_schema.key_column_usage AS held
LEFT JOIN information_schema.referential_constraints AS shown
    ON CAST(shown.constraint_schema AS BINARY) = CAST(held.constraint_schema AS BINARY)
    AND shown.constraint_name = held.constraint_name
    AND CAST(shown.table_name AS BINARY) = CAST(held.table_name AS BINARY)
WHERE held.table_schema = %(schema)s AND held.table_name = %(table)s AND held.referenced_table_name IS NOT NULL
  AND shown.constraint_name IS NULL
