-- Whoever executes it holds its record until the end. Manual: SQL Language Reference, "SELECT", "for_update_clause".
SELECT known.committed FROM {statements} known WHERE known.id = :id FOR UPDATE NOWAIT
