"""SQL statements that are issued on the master and carried out everywhere."""
