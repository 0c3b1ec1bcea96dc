DELETE FROM {tables} WHERE schemaname = %(schema)s AND tablename = %(table)s
