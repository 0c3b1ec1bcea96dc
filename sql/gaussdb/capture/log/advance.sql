-- A place in the log is of another type on each kind of server, so the text of it bears none.
SELECT pg_replication_slot_advance({slot}, {lsn})
