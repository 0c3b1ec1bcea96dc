-- FOR UPDATE: a plain read would let a zombie through that was overtaken after it looked (R6). Manual: SQL Language Reference,
-- "SELECT", "for_update_clause".
SELECT held.epoch, held.segment, held.ordinal, held.snapshot FROM {position} held
WHERE held.source = :source AND held.slave = :slave
FOR UPDATE WAIT 60
