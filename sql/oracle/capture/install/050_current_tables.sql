-- The watched tables as they were when the publisher looked last; the catalog is compared with it (R7). `definition` is JSON.
-- Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {current_tables} (
    relid      NUMBER             NOT NULL,
    schemaname VARCHAR2(128 BYTE) NOT NULL,
    relname    VARCHAR2(128 BYTE) NOT NULL,
    definition CLOB               NOT NULL,
    CONSTRAINT {current_tables_key} PRIMARY KEY (relid)
)
