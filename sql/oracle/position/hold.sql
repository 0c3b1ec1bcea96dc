-- No drain begins a position until the transaction ends. Manual: SQL Language Reference, "LOCK TABLE".
LOCK TABLE {position} IN EXCLUSIVE MODE WAIT 60
