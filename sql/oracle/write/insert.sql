-- Executed for an array of rows. Manual: SQL Language Reference, "INSERT"; python-oracledb's manual, "Batch Statement Execution".
INSERT INTO {table} ({columns}) VALUES ({places})
