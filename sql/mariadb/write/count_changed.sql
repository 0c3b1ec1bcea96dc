-- Rows that are to become others, and are there.
SELECT COUNT(*) FROM {stage} AS staged JOIN {table} AS held ON {same_key} WHERE staged.sluice_mark = 1
