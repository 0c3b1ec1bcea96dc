-- What bears a name: of what kind, of which engine, about how many bytes.
SELECT table_type, IFNULL(engine, ''), IFNULL(data_length, 0) FROM information_schema.tables
WHERE table_schema = %(schema)s AND table_name = %(table)s
