-- In the transaction that loads the rows: a second attempt at the same chunk waits for the first, then does nothing (R3).
INSERT INTO {loaded} (source, slave, update_id, chunk, rows)
VALUES (%(source)s, %(slave)s, %(update)s, %(chunk)s, 0) ON CONFLICT DO NOTHING
