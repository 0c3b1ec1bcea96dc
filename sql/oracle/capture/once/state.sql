-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {state} (only_row) SELECT 1 FROM dual WHERE NOT EXISTS (SELECT 1 FROM {state})
