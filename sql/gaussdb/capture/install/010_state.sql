-- One row: which incarnation of the source this is, and for which control store it is captured; the newest segment that is
-- published; the fence of publishers; the slot, and what of it is published: all that committed before `lsn`, and `ahead`,
-- which committed later. Places in the log are numbers here, and lists are texts: servers of this kind differ in their types.
CREATE TABLE IF NOT EXISTS {state} (
    only_row    boolean PRIMARY KEY CHECK (only_row),
    version     integer NOT NULL,
    incarnation text    NOT NULL,
    store       text,
    segment     bigint  NOT NULL,
    sha256      text    NOT NULL,
    epoch       bigint  NOT NULL,
    slot        text,
    lsn         bigint  NOT NULL,
    ahead       text    NOT NULL
)
