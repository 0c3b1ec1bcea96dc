-- Manual: SQL Language Reference, "UPDATE".
UPDATE {state} SET epoch = :epoch
