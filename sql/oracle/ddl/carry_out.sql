-- A command that commits nothing of the transaction which holds the fence (R6). One session does both, so neither outlives the other.
-- Its text may be longer than a literal. Manual: PL/SQL Language Reference, "AUTONOMOUS_TRANSACTION Pragma", "EXECUTE IMMEDIATE Statement".
DECLARE
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    EXECUTE IMMEDIATE :statement;
END;
