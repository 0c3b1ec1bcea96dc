-- In the transaction of the rows that precede the command.
INSERT INTO {intent} (source, slave, command) VALUES (%(source)s, %(slave)s, %(command)s)
ON DUPLICATE KEY UPDATE command = VALUES(command)
