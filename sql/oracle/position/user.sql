-- The name of a user is that of its schema. Manual: SQL Language Reference, "USER".
SELECT USER FROM dual
