-- FOR SHARE: a plain read would let a publisher through that lost its lease after its snapshot (R6).
-- A promoted server writes on its new timeline at once, while the control file names it only after a checkpoint: the
-- name of the WAL file begins with the timeline in eight hexadecimal digits.
SELECT
    state.incarnation::text || ':' || system.system_identifier || ':' ||
        ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer,
    state.segment, state.sha256, state.epoch
FROM {state} AS state, pg_control_system() AS system
FOR SHARE OF state
