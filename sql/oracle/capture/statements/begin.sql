-- Committed before the transaction of the statement, which holds it. Manual: SQL Language Reference, "INSERT".
INSERT INTO {statements} (id) VALUES (:id)
