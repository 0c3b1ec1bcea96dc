INSERT INTO {tables} (schemaname, tablename, actions, repl_key, trigger_name, debug)
VALUES (%(schema)s, %(table)s, %(actions)s, nextval({seq_name}::regclass), %(trigger)s, %(debug)s)
ON CONFLICT (catalogname, schemaname, tablename) DO UPDATE SET status = 'CREATING'
