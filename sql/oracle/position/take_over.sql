-- Manual: SQL Language Reference, "UPDATE".
UPDATE {position} held SET held.epoch = :epoch WHERE held.source = :source AND held.slave = :slave
