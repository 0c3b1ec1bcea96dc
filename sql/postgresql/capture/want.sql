INSERT INTO {wanted} (schemaname, tablename, wildcard, excluded, actions, trigger_name)
VALUES (%(schema)s, %(table)s, %(wildcard)s, %(excluded)s, %(actions)s, %(trigger)s)
