-- Which segments hold the rows of a table, also of its partitions. Manual: Database Reference, "DBA_OBJECTS".
GRANT SELECT ON sys.dba_objects TO {user}
