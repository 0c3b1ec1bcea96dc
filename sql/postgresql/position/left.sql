-- Whether another replication into this database has a position, so that our tables stay.
SELECT EXISTS (SELECT FROM {position})
