UPDATE {tables} SET status = 'OK', actions = %(actions)s, trigger_name = %(trigger)s, debug = %(debug)s
WHERE schemaname = %(schema)s AND tablename = %(table)s
