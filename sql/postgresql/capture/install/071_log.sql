-- One row, where changes are read from the server's log: the slot; what is published of it, which is all that committed before
-- `lsn`, and `ahead`, which committed later; and the layouts that tables had there, as far as it was read (R2, R7). While the source
-- changes over: the `phase`, which is what is published first, the queue or the slot, or `over`, where the slot is only to be dropped;
-- the transactions that are published from there, which `shown` shows; and the place in the log that the last of them was committed before.
CREATE TABLE IF NOT EXISTS {log} (
    only_row boolean  PRIMARY KEY DEFAULT true CHECK (only_row),
    slot     name     NOT NULL,
    lsn      pg_lsn   NOT NULL,
    ahead    xid8[]   NOT NULL DEFAULT '{{ }}',
    layouts  bigint[] NOT NULL,
    phase    text     CHECK (phase IN ('queue', 'slot', 'over')),
    shown    pg_snapshot,
    ends     pg_lsn
)
