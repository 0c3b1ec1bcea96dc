-- In the transaction that moves the position past the command, or sets it. Manual: SQL Language Reference, "DELETE".
DELETE FROM {intent} held WHERE held.source = :source AND held.slave = :slave
