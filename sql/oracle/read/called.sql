-- The name of a table by its number; of one in the recycle bin a name that no other has. Manual: Database Reference, "DBA_OBJECTS".
SELECT made.owner, made.object_name FROM sys.dba_objects made WHERE made.object_id = :relation AND made.object_type = 'TABLE'
