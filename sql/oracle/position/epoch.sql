-- Read by a session that holds a chunk: whoever takes over raises the epoch, and then waits for the holders of chunks (R6).
-- Manual: Database Concepts, "Statement-Level Read Consistency".
SELECT held.epoch FROM {position} held WHERE held.source = :source AND held.slave = :slave
