-- All is published that committed before the slot was made.
INSERT INTO {log} (slot, lsn, layouts) VALUES (%(slot)s, '0/0'::pg_lsn + %(lsn)s::numeric, %(layouts)s)
ON CONFLICT (only_row) DO UPDATE
SET slot = EXCLUDED.slot, lsn = EXCLUDED.lsn, ahead = EXCLUDED.ahead, layouts = EXCLUDED.layouts,
    phase = EXCLUDED.phase, shown = EXCLUDED.shown, ends = EXCLUDED.ends
