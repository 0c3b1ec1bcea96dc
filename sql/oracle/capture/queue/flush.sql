-- Manual: SQL Language Reference, "UPDATE".
UPDATE {flushed} SET times = times + 1
