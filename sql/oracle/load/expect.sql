-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {loaded} (source, slave, load_id, chunk, copied) VALUES (:source, :slave, :load_id, :chunk, :copied)
