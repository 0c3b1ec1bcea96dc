-- Those of tables that are watched no more. Manual: SQL Language Reference, "DELETE".
DELETE FROM {segments} WHERE relid NOT IN (SELECT entry.relid FROM {tables} entry)
