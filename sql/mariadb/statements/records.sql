-- Statements for every node, by their number in the control store. A record is in the transaction of its statement: it tells the
-- publisher whose the rows are, and anybody who asks later that the transaction was committed.
CREATE TABLE IF NOT EXISTS {records} (
    id bigint NOT NULL PRIMARY KEY,
    content longtext NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
