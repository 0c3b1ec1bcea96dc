-- Whether a command of the master was begun at a change number: the slave is beyond its position then. Manual: SQL Language Reference,
-- "flashback_query_clause".
SELECT 1 FROM {intent} AS OF SCN :scn held WHERE held.source = :source AND held.slave = :slave
