-- Foreign keys of a table whose rules the server does not show us, for want of a right on the database.
SELECT DISTINCT held.constraint_name FROM information_schema.key_column_usage AS held
LEFT JOIN information_schema.referential_constraints AS shown
    ON shown.constraint_schema = held.constraint_schema AND shown.constraint_name = held.constraint_name
    AND shown.table_name = held.table_name
WHERE held.table_schema = %(schema)s AND held.table_name = %(table)s AND held.referenced_table_name IS NOT NULL
  AND shown.constraint_name IS NULL
