-- TRUNCATE would commit. Manual: SQL Language Reference, "DELETE".
DELETE FROM {table}
