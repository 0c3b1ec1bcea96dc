-- The command of the master that was begun on a slave, since it commits by itself; see `vendors/committed_ddl.py` (R3).
CREATE TABLE IF NOT EXISTS {intent} (
    source  varchar(255) NOT NULL,
    slave   varchar(255) NOT NULL,
    command longtext     NOT NULL,
    PRIMARY KEY (source, slave)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
