-- Manual: SQL Language Reference, "DELETE".
DELETE FROM {wanted}
