-- One row: whose source this is, who publishes it, and how far that is in the log of which server.
CREATE TABLE IF NOT EXISTS {state} (
    id tinyint NOT NULL PRIMARY KEY CHECK (id = 1),
    store varchar(200) NOT NULL,
    epoch bigint NOT NULL,
    incarnation varchar(100) NOT NULL,
    server varchar(500) NOT NULL,
    segment bigint NOT NULL,
    sha256 varchar(100) NOT NULL,
    place varchar(300) NOT NULL,
    born varchar(100) NOT NULL,
    wanted longtext NOT NULL,
    layouts longtext NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
