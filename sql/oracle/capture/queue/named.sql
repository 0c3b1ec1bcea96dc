-- What a table is called by now; nothing if it was dropped. Manual: Database Reference, "DBA_OBJECTS"; Administrator's Guide, "Viewing
-- and Querying Objects in the Recycle Bin".
SELECT made.owner, made.object_name
FROM sys.dba_objects made
WHERE made.object_id = :relation AND made.object_type = 'TABLE' AND made.object_name NOT LIKE 'BIN$%'
