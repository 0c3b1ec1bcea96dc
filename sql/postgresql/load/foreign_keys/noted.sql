SELECT "schema", "table", name, parent_schema, parent_table, made FROM {references} ORDER BY 1, 2, 3
