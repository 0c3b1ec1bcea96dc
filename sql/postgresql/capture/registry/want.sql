INSERT INTO {wanted} (schemaname, tablename, wildcard, excluded, actions, trigger_name, debug, old_images)
VALUES (%(schema)s, %(table)s, %(wildcard)s, %(excluded)s, %(actions)s, %(trigger)s, %(debug)s, %(old_images)s)
