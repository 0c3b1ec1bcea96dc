-- Manual: SQL Language Reference, "DROP TRIGGER", "DROP FUNCTION", "DROP PROCEDURE", "DROP SEQUENCE".
DROP {kind} {name}
