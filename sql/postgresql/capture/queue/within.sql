-- What one sweep takes of one run of blocks of ITEMS: all, or what ends in one slice of a backlog (R1).
ctid >= {begin}::tid AND ctid < {end}::tid
  AND repl_key >= {low} AND repl_key < {high}
  AND trans_key <> ALL ({later}::xid8[])
  AND ({snapshot}::pg_snapshot IS NULL OR pg_visible_in_snapshot(trans_key, {snapshot}::pg_snapshot))
