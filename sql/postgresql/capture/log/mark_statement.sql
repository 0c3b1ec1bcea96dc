-- The first thing that the transaction of a statement writes: who reads the server's log publishes nothing of what follows in it but
-- the record of the statement. The row itself is taken out of the queue again, with all others that come before that record.
INSERT INTO {queue} (repl_key, relid, db_action) VALUES (9223372036854775807, 0, 'B')
