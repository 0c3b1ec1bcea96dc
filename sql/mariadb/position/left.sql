-- How many replications into this server have a position, so that our tables stay.
SELECT COUNT(*) FROM {position}
