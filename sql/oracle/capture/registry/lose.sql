-- A change of this table may not be known, and its slaves are to be filled anew (R9). Manual: SQL Language Reference, "UPDATE".
UPDATE {tables} SET lost = 'Y' WHERE relid = :relation AND lost = 'N'
