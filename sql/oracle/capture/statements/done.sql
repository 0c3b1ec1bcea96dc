-- In the transaction of the statement. Manual: SQL Language Reference, "UPDATE".
UPDATE {statements} SET committed = 'Y' WHERE id = :id
