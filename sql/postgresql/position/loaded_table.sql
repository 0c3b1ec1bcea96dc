-- Chunks of an initial update. A task claims a chunk before its rows are in; `rows` is written in the transaction that loads them, so
-- that none loads twice (R3). `part`: what a chunk holds, and in which snapshot, so that a load that broke off can go on.
CREATE TABLE IF NOT EXISTS {loaded} (
    source    text    NOT NULL,
    slave     text    NOT NULL,
    update_id bigint  NOT NULL,
    chunk     integer NOT NULL,
    rows      bigint,
    part      text,
    PRIMARY KEY (source, slave, update_id, chunk)
)
