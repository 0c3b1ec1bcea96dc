DELETE FROM {tables} WHERE schemaname = %(schema)s::text AND tablename = %(table)s::text
