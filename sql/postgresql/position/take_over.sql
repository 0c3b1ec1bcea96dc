INSERT INTO {position} AS position (source, slave, epoch, backend_pid)
VALUES (%(source)s, %(slave)s, %(epoch)s, pg_backend_pid())
ON CONFLICT (source, slave) DO UPDATE SET epoch = excluded.epoch, backend_pid = excluded.backend_pid
WHERE position.epoch <= excluded.epoch
RETURNING segment, ordinal, snapshot
