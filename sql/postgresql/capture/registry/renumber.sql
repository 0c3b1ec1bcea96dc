UPDATE {tables} SET repl_key = nextval({seq_name}::regclass) WHERE schemaname = %(schema)s AND tablename = %(table)s
