-- Manual: SQL Language Reference, "SELECT".
SELECT held.ordinal FROM {position} held WHERE held.source = :source AND held.slave = :slave
