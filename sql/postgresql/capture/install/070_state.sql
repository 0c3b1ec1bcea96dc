-- One row: which incarnation of the source this is, the control store that it is captured for, the newest segment whose changes were purged here, and the fence
-- that every publisher reads FOR SHARE (R2, R6).
CREATE TABLE IF NOT EXISTS {state} (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    incarnation uuid    NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
    segment     bigint  NOT NULL DEFAULT 0,
    sha256      text    NOT NULL DEFAULT '',
    epoch       bigint  NOT NULL DEFAULT 0,
    backend_pid integer,
    version     integer NOT NULL DEFAULT 0,
    store       uuid
)
