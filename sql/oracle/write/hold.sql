-- From here on nobody alters the table until the transaction ends. Manual: SQL Language Reference, "LOCK TABLE".
LOCK TABLE {table} IN ROW EXCLUSIVE MODE WAIT 60
