-- The first thing that one of our transactions writes: who reads the server's log leaves out what follows in it. The row itself is
-- taken out of the queue again with all others of the transaction: its key is above any that was drawn before.
INSERT INTO {queue} (repl_key, relid, db_action) VALUES (9223372036854775807, 0, 'O')
