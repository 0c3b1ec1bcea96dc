-- How far each replication into this server has come, and the fence of who may move it (R3, R6).
CREATE TABLE IF NOT EXISTS {position} (
    source   varchar(255) NOT NULL,
    slave    varchar(255) NOT NULL,
    segment  bigint       NOT NULL DEFAULT 0,
    ordinal  bigint       NOT NULL DEFAULT 0,
    snapshot longtext,
    epoch    bigint       NOT NULL DEFAULT 0,
    PRIMARY KEY (source, slave)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
