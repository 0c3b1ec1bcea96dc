-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {wanted} (schemaname, tablename, wildcard, excluded, actions, trigger_name, debug, old_images)
VALUES (:schema, :name, :wildcard, :excluded, :actions, :trigger_, :debug, :old_images)
