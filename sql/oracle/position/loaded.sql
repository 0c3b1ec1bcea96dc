-- Chunks of an initial update; COPIED is written in the transaction that loads them, so that none loads twice (R3). Manual: SQL
-- Language Reference, "CREATE TABLE".
CREATE TABLE {loaded} (
    source  VARCHAR2(255 BYTE) NOT NULL,
    slave   VARCHAR2(255 BYTE) NOT NULL,
    load_id NUMBER(19)         NOT NULL,
    chunk   NUMBER(10)         NOT NULL,
    copied  NUMBER(19),
    PRIMARY KEY (source, slave, load_id, chunk)
)
