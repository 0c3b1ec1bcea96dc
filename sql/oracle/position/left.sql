-- How many replications into this schema have a position, so that our tables stay. Nobody begins one until they are dropped, or the
-- transaction ends. Manual: SQL Language Reference, "SELECT".
SELECT COUNT(*) FROM {position} held
