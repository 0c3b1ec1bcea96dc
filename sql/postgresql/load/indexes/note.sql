INSERT INTO {indexes} ("schema", "table", name, is_key, built, bound)
VALUES (%(schema)s, %(table)s, %(name)s, %(is_key)s, %(built)s, %(bound)s)
