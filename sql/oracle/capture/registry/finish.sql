-- Manual: SQL Language Reference, "UPDATE".
UPDATE {tables} SET status = 'OK' WHERE relid = :relation
