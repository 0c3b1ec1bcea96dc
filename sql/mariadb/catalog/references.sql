-- Tables whose foreign keys refer to a table.
SELECT DISTINCT constraint_schema, table_name FROM information_schema.referential_constraints
WHERE CAST(unique_constraint_schema AS BINARY) = %(schema)s AND CAST(referenced_table_name AS BINARY) = %(table)s
  AND NOT (CAST(constraint_schema AS BINARY) = %(schema)s AND CAST(table_name AS BINARY) = %(table)s)
