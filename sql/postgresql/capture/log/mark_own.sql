-- The first thing that one of our transactions writes: who reads the server's log leaves out what follows in it. The row itself is
-- taken out of the queue again with all others of the transaction: its key is above any that was drawn before, and no other
-- transaction's, so that nobody waits for it where keys are unique.
INSERT INTO {queue} (repl_key, relid, db_action)
VALUES (9223372036854775807 - pg_catalog.pg_current_xact_id()::text::bigint, 0, 'O')
