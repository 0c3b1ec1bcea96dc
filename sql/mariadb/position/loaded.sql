-- Chunks of an initial update; `loaded` is written in the transaction that loads them, so that none loads twice (R3).
CREATE TABLE IF NOT EXISTS {loaded} (
    source    varchar(255) NOT NULL,
    slave     varchar(255) NOT NULL,
    update_id bigint       NOT NULL,
    chunk     integer      NOT NULL,
    loaded    bigint,
    PRIMARY KEY (source, slave, update_id, chunk)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
