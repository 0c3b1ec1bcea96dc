-- A word that belongs to no replication: the locks of commands are named by it. It stays as it is.
INSERT INTO {intent} (source, slave, command) VALUES ('', '', %(word)s) ON DUPLICATE KEY UPDATE source = source
