-- Manual: SQL Language Reference, "UPDATE".
UPDATE {loaded} held SET held.copied = :copied
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.chunk = :chunk
