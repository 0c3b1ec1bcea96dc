-- The first thing that the transaction of a statement writes: who reads the server's log publishes nothing of what follows in it but
-- the record of the statement. The row itself is taken out of the queue again, with all others that come before that record. Its key
-- is above all that are drawn, and no other transaction's: where keys are unique, nobody waits for it.
INSERT INTO {queue} (repl_key, relid, db_action)
VALUES (9223372036854775807 - pg_catalog.pg_current_xact_id()::text::bigint, 0, 'B')
