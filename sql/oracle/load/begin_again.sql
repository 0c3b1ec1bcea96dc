-- Chunks without rows stay: there is nothing for the slave in them. Manual: SQL Language Reference, "UPDATE".
UPDATE {loaded} held SET held.copied = NULL
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.copied > 0
