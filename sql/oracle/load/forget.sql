-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {loaded} held WHERE held.source = :source AND held.slave = :slave
