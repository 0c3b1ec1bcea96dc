-- A row to lock, for a slave that has none yet.
INSERT INTO {position} (source, slave) VALUES (%(source)s, %(slave)s) ON DUPLICATE KEY UPDATE source = source
