-- The row stays: a trigger that waits to mark it as LOST finds it after the commit (R9). Manual: SQL Language Reference, "UPDATE".
UPDATE {tables}
SET actions = :actions, status = 'CREATING', repl_key = :layout, trigger_name = :trigger_, debug = :debug, relid = :relation,
    old_images = :old_images, lost = :lost
WHERE schemaname = :schema AND tablename = :name
