-- A table has one unique key, so a row can only be in the way of itself.
INSERT INTO {table} ({columns})
SELECT {staged} FROM {stage} AS staged WHERE staged.sluice_mark <> 0
ON DUPLICATE KEY UPDATE {becomes}
