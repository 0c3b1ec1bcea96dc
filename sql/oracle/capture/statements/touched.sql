-- The tables whose rows a transaction has changed, as triggers captured it. Manual: SQL Language Reference, "SELECT".
SELECT DISTINCT item.relid FROM {items} item WHERE item.trans_key = :trans_key
