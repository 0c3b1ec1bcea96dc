-- Keys that are absent at the end; what becomes another row is never deleted. Manual: SQL Language Reference, "DELETE".
DELETE FROM {table} held WHERE ({key}) IN (SELECT {staged_key} FROM {stage} staged WHERE staged.sluice_mark = 0)
