-- In the transaction in which the control store forgets the replication. Manual: SQL Language Reference, "DELETE".
DELETE FROM {position} held WHERE held.source = :source AND held.slave = :slave
