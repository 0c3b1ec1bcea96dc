-- Manual: SQL Language Reference, "UPDATE".
UPDATE {state} SET version = :version
