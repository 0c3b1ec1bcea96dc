-- Triggers of ours that came back from the recycle bin with their table, under a name that the server gave them. Ours notes losses by
-- our procedure; other triggers of the same user are an application's, or another prefix's. Manual: Database Reference, "USER_TRIGGERS",
-- "ALL_DEPENDENCIES"; Administrator's Guide, "Restoring Tables from the Recycle Bin".
SELECT captured.trigger_name, captured.table_owner, captured.table_name
FROM user_triggers captured
WHERE captured.trigger_name LIKE 'BIN$%' AND captured.table_name NOT LIKE 'BIN$%'
  AND EXISTS (
      SELECT 1 FROM user_dependencies needed
      WHERE needed.name = captured.trigger_name AND needed.type = 'TRIGGER'
        AND needed.referenced_owner = :schema AND needed.referenced_name = :lose
  )
