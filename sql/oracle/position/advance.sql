-- In the transaction of the data (R3), from exactly where the one before left it. Manual: SQL Language Reference, "UPDATE".
UPDATE {position} held SET held.segment = :segment, held.ordinal = :ordinal
WHERE held.source = :source AND held.slave = :slave AND held.epoch = :epoch AND held.ordinal = :moved_from
