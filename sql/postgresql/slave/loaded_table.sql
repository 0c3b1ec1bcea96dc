-- Chunks of an initial update that are in: written in the transaction that loads the rows, so that none loads twice (R3).
CREATE TABLE IF NOT EXISTS {loaded} (
    source    text    NOT NULL,
    slave     text    NOT NULL,
    update_id bigint  NOT NULL,
    chunk     integer NOT NULL,
    rows      bigint  NOT NULL,
    PRIMARY KEY (source, slave, update_id, chunk)
)
