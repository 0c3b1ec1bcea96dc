-- The command of the master that was begun on a slave, since it commits by itself; see `vendors/committed_ddl.py` (R3). Manual: SQL
-- Language Reference, "CREATE TABLE".
CREATE TABLE {intent} (
    source  VARCHAR2(255 BYTE) NOT NULL,
    slave   VARCHAR2(255 BYTE) NOT NULL,
    command CLOB               NOT NULL,
    PRIMARY KEY (source, slave)
)
