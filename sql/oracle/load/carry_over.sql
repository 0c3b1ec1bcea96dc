-- The chunks of the same load, which another job goes on with. Manual: SQL Language Reference, "UPDATE".
UPDATE {loaded} held SET held.load_id = :load_id
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :earlier
