-- The columns that images of a table list, from repl_key on (R7). `columns` and `key_columns` are JSON.
-- Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {layouts} (
    repl_key    NUMBER(19)         NOT NULL,
    relid       NUMBER             NOT NULL,
    schemaname  VARCHAR2(128 BYTE) NOT NULL,
    tablename   VARCHAR2(128 BYTE) NOT NULL,
    columns     CLOB               NOT NULL,
    key_columns CLOB               NOT NULL,
    deferred    CHAR(1 BYTE)       NOT NULL,
    CONSTRAINT {layouts_key} PRIMARY KEY (repl_key)
)
