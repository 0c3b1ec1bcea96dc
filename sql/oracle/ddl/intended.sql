-- Manual: SQL Language Reference, "SELECT".
SELECT held.command FROM {intent} held WHERE held.source = :source AND held.slave = :slave
