-- Manual: SQL Language Reference, "UPDATE".
UPDATE {position} held SET held.segment = :segment, held.ordinal = :ordinal, held.snapshot = :snapshot
WHERE held.source = :source AND held.slave = :slave AND held.epoch = :epoch
