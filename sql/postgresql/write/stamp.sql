-- What `replay_guard` looks at.
SELECT sum(stamp)::bigint FROM ({stamps}) AS stamps
