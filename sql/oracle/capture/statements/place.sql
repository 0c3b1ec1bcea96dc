-- Later sweeps give its transaction the same name in the log. Manual: SQL Language Reference, "UPDATE".
UPDATE {statements} SET scn = :scn WHERE id = :id AND scn IS NULL
