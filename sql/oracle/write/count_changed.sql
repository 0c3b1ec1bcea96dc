-- Rows that are to become others, and are there. Manual: SQL Language Reference, "SELECT".
SELECT COUNT(*) FROM {stage} staged JOIN {table} held ON {same_key} WHERE staged.sluice_mark = 1
