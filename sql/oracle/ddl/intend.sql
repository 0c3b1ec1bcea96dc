-- In the transaction of the rows that precede the command; the one before is forgotten there. Manual: SQL Language Reference, "INSERT".
INSERT INTO {intent} (source, slave, command) VALUES (:source, :slave, :intended)
