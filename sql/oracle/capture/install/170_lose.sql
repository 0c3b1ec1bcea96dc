-- A change of this table is not known, and its slaves are to be filled anew (R9). In a transaction of its own: the note stays if
-- the statement is rolled back, and no other session waits for it. If it cannot be written either, the error is the statement's:
-- a change that is lost and that nobody hears of would be worse. Manual: PL/SQL Language Reference, "AUTONOMOUS_TRANSACTION Pragma".
CREATE OR REPLACE PROCEDURE {lose}(relation IN NUMBER) AUTHID DEFINER
IS
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    UPDATE {tables} SET lost = 'Y' WHERE relid = relation AND lost = 'N';
    COMMIT;
END;
