-- A sweep looks for the largest key of each transaction (R1). Manual: SQL Language Reference, "CREATE INDEX".
CREATE INDEX {items_transactions} ON {items} (trans_key, repl_key) INITRANS 8
