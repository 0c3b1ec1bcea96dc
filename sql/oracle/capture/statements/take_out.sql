-- The rows that a statement changed: it travels in their place. Manual: SQL Language Reference, "DELETE".
DELETE FROM {items} item WHERE item.trans_key = :trans_key
