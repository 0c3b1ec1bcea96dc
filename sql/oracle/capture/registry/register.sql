-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {tables} (schemaname, tablename, actions, status, repl_key, trigger_name, debug, relid, old_images, lost)
VALUES (:schema, :name, :actions, 'CREATING', :layout, :trigger_, :debug, :relation, :old_images, :lost)
