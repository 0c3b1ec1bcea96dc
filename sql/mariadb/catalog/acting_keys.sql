-- Foreign keys of a table that change its rows when rows of another one change: such changes are in no log.
SELECT constraint_name, referenced_table_name, delete_rule, update_rule
FROM information_schema.referential_constraints
WHERE constraint_schema = %(schema)s AND table_name = %(table)s
  AND NOT (delete_rule IN ('RESTRICT', 'NO ACTION') AND update_rule IN ('RESTRICT', 'NO ACTION'))
ORDER BY constraint_name
