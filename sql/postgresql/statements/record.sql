-- The statement's place in the stream: its key is drawn after the last lock that it waited for (R1).
INSERT INTO {queue} (repl_key, relid, db_action, content)
VALUES (nextval({seq_name}::regclass), 0, 'S', %(content)s)
RETURNING trans_key::text
