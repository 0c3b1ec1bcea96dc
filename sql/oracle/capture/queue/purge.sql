-- One change, by its key and its transaction: exactly what is in the log (R2). Manual: SQL Language Reference, "DELETE".
DELETE FROM {items} item WHERE item.repl_key = :1 AND item.trans_key = :2
