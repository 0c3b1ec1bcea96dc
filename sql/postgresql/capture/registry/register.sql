-- With its relation, whose trigger function depends on what the entry says of old images.
INSERT INTO {tables} (schemaname, tablename, actions, repl_key, trigger_name, debug, relid, old_images)
VALUES (%(schema)s, %(table)s, %(actions)s, nextval({seq_name}::regclass), %(trigger)s, %(debug)s, %(relation)s,
        %(old_images)s)
ON CONFLICT (catalogname, schemaname, tablename) DO UPDATE
SET status = 'CREATING', relid = EXCLUDED.relid, old_images = EXCLUDED.old_images
