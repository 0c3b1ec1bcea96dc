-- Triggers of ours that came back from the recycle bin with their table, under a name that the server gave them. Manual: Database
-- Reference, "USER_TRIGGERS"; Administrator's Guide, "Restoring Tables from the Recycle Bin".
SELECT captured.trigger_name, captured.table_owner, captured.table_name
FROM user_triggers captured
WHERE captured.trigger_name LIKE 'BIN$%' AND captured.table_name NOT LIKE 'BIN$%'
