-- Room for the tables. Manual: SQL Language Reference, "ALTER USER".
ALTER USER {user} QUOTA UNLIMITED ON {table_space}
