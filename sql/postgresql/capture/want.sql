INSERT INTO {wanted} (schemaname, tablename, wildcard, excluded, actions, trigger_name, debug)
VALUES (%(schema)s, %(table)s, %(wildcard)s, %(excluded)s, %(actions)s, %(trigger)s, %(debug)s)
