-- Which relation an entry stands for: it follows its table when that is renamed.
ALTER TABLE {tables} ADD COLUMN IF NOT EXISTS relid oid
