-- A row of its own to commit, which makes durable what was committed before (R2): that of {state} may be locked by the sweep.
-- Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {flushed} (
    only_row NUMBER(1)  DEFAULT 1 NOT NULL,
    times    NUMBER(19) DEFAULT 0 NOT NULL,
    CONSTRAINT {flushed_key} PRIMARY KEY (only_row),
    CONSTRAINT {flushed_one} CHECK (only_row = 1)
)
