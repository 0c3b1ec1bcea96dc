-- Manual: SQL Language Reference, "UPDATE".
UPDATE {state} SET store = :store WHERE store = :holder
