-- Whether this is a standby, and up to where it has replayed the master's log.
SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'::pg_lsn
