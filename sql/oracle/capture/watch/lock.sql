-- Transactions that wrote before the trigger was there have ended once this lock is held; it is given back at once.
-- Manual: SQL Language Reference, "LOCK TABLE".
LOCK TABLE {table} IN SHARE MODE WAIT 60
