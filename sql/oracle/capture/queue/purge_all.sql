-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {items}
