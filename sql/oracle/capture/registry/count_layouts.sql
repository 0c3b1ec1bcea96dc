-- Manual: SQL Language Reference, "COUNT".
SELECT COUNT(*) FROM {layouts} recorded WHERE recorded.relid = :relation
