-- Where all that the triggers captured is over, and nothing else has begun: that is published from the queue, and what is committed
-- behind this place from the slot.
INSERT INTO {log} (slot, lsn, layouts, phase, shown)
VALUES (%(slot)s, pg_current_wal_insert_lsn(), %(layouts)s, 'queue', pg_current_snapshot())
