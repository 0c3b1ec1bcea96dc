CREATE INDEX flights_by_plane ON flights (tailnum) WHERE tailnum IS NOT NULL
