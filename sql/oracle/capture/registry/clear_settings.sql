-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {settings}
