-- Tables whose foreign keys refer to a table.
SELECT DISTINCT constraint_schema, table_name FROM information_schema.referential_constraints
WHERE unique_constraint_schema = %(schema)s AND referenced_table_name = %(table)s
  AND NOT (constraint_schema = %(schema)s AND table_name = %(table)s)
