-- The newest segment whose changes were purged, in the transaction of the purge (R2). Manual: SQL Language Reference, "UPDATE".
UPDATE {state} SET segment = :segment, sha256 = :sha256
