-- Where all that is in the log is over, and nothing else has begun: that is published from the slot, and what is committed behind this
-- place from the queue.
UPDATE {log} SET phase = 'slot', shown = pg_current_snapshot(), ends = pg_current_wal_insert_lsn() WHERE phase IS NULL
