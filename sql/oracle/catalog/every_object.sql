-- Whether the user may look at every object, as the view of segments does. Manual: Database Reference, "DBA_OBJECTS".
SELECT 1 FROM sys.dba_objects made WHERE ROWNUM = 1
