-- Waits for sessions of an earlier job that hold chunks, whose epoch nobody takes for the newest any more (R6). Manual: SQL Language
-- Reference, "SELECT", "for_update_clause".
SELECT held.chunk FROM {loaded} held WHERE held.source = :source AND held.slave = :slave FOR UPDATE WAIT 60
