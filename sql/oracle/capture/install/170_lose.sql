-- A change of this table is not known, and its slaves are to be filled anew (R9). In a transaction of its own: the note stays if
-- the statement is rolled back, and no other session waits for it. Beside it only our own sessions lock rows of {tables}, in short
-- transactions that wait for nothing which an application holds: else the application's statement could fail (ORA-00060). If the
-- note cannot be written either, the error is the statement's: a change that is lost and that nobody hears of would be worse. Manual: PL/SQL Language Reference, "AUTONOMOUS_TRANSACTION Pragma".
CREATE OR REPLACE PROCEDURE {lose}(relation IN NUMBER) AUTHID DEFINER
IS
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    UPDATE {tables} SET lost = 'Y' WHERE relid = relation AND lost = 'N';
    COMMIT;
END;
