-- Waits for writers, and keeps them out until the commit, so that the statement has seen all that is in front of it (R1).
-- Manual: SQL Language Reference, "LOCK TABLE".
LOCK TABLE {table} IN {mode} MODE WAIT 5
