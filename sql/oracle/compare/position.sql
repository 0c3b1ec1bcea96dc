-- Where a slave stood at a change number. A position is moved in the transaction of the data (R3), so the slave's tables as of that
-- number hold what they hold at that position. Manual: SQL Language Reference, "flashback_query_clause".
SELECT held.ordinal FROM {position} AS OF SCN :scn held WHERE held.source = :source AND held.slave = :slave
