-- One row, where changes are read from the server's log: the slot; what is published of it, which is all that committed before
-- `lsn`, and `ahead`, which committed later; and the layouts that tables had there, as far as it was read (R2, R7).
CREATE TABLE IF NOT EXISTS {log} (
    only_row boolean  PRIMARY KEY DEFAULT true CHECK (only_row),
    slot     name     NOT NULL,
    lsn      pg_lsn   NOT NULL,
    ahead    xid8[]   NOT NULL DEFAULT '{{ }}',
    layouts  bigint[] NOT NULL
)
