-- FOR SHARE: a plain read would let a publisher through that lost its lease after its snapshot (R6).
SELECT
    state.incarnation::text || ':' || system.system_identifier || ':' || checkpoint.timeline_id,
    state.segment, state.sha256, state.epoch
FROM {state} AS state, pg_control_system() AS system, pg_control_checkpoint() AS checkpoint
FOR SHARE OF state
