-- The log is flushed when this returns, and with it all commits before (R2). Manual: SQL Language Reference, "COMMIT".
COMMIT WRITE IMMEDIATE WAIT
