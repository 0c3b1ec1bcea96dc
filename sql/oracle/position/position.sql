-- How far each replication into this schema has come, and the fence of who may move it (R3, R6). Manual: SQL Language Reference,
-- "CREATE TABLE".
CREATE TABLE {position} (
    source   VARCHAR2(255 BYTE) NOT NULL,
    slave    VARCHAR2(255 BYTE) NOT NULL,
    segment  NUMBER(19)         DEFAULT 0 NOT NULL,
    ordinal  NUMBER(19)         DEFAULT 0 NOT NULL,
    snapshot CLOB,
    epoch    NUMBER(19)         DEFAULT 0 NOT NULL,
    PRIMARY KEY (source, slave)
)
