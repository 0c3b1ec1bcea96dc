-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {flushed} (only_row) SELECT 1 FROM dual WHERE NOT EXISTS (SELECT 1 FROM {flushed})
