INSERT INTO {references} ("schema", "table", name, parent_schema, parent_table, made)
VALUES (%(schema)s, %(table)s, %(name)s, %(parent_schema)s, %(parent_table)s, %(made)s)
ON CONFLICT ("schema", "table", name) DO UPDATE
SET parent_schema = excluded.parent_schema, parent_table = excluded.parent_table, made = excluded.made
