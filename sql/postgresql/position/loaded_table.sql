-- Chunks of an initial update; `rows` is written in the transaction that loads them, so that none loads twice (R3).
CREATE TABLE IF NOT EXISTS {loaded} (
    source    text    NOT NULL,
    slave     text    NOT NULL,
    update_id bigint  NOT NULL,
    chunk     integer NOT NULL,
    rows      bigint,
    PRIMARY KEY (source, slave, update_id, chunk)
)
