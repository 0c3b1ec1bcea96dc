-- Columns of tables that are watched no more, once nothing of them is queued. Manual: SQL Language Reference, "DELETE".
DELETE FROM {layouts} recorded
WHERE NOT EXISTS (SELECT 1 FROM {tables} entry WHERE entry.relid = recorded.relid)
  AND NOT EXISTS (SELECT 1 FROM {items} item WHERE item.relid = recorded.relid)
