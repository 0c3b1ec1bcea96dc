-- FOR SHARE: a plain read would let a publisher through that lost its lease after its snapshot (R6).
SELECT state.incarnation::text || ':' || ({server}), state.segment, state.sha256, state.epoch
FROM {state} AS state
FOR SHARE OF state
