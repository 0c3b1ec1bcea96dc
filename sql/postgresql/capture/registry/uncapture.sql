-- What the triggers have put into the queue for this transaction is taken out again: nobody else has seen it. What a change
-- of a table recorded beside the queue stays: rows of later are read by it (R7).
DELETE FROM {queue} WHERE repl_key > %(first)s AND trans_key = pg_catalog.pg_current_xact_id()
