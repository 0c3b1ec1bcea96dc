-- A row to lock, for a slave that has none yet. Manual: SQL Language Reference, "MERGE".
MERGE INTO {position} held USING dual ON (held.source = :source AND held.slave = :slave)
WHEN NOT MATCHED THEN INSERT (source, slave) VALUES (:source, :slave)
