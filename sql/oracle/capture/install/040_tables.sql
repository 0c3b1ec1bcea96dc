-- Table 2.2 of the guide. Here the empty text is NULL, so the words are explicit: actions NONE are those of a table that is
-- copied and not watched. `lost` says that a change of the table is not known (R9): it is one byte long in any case, so
-- that writing it needs no room, even where ITEMS has none left. Manual: SQL Language Reference, "CREATE TABLE", "Nulls".
CREATE TABLE {tables} (
    catalogname  VARCHAR2(128 BYTE) DEFAULT ' ' NOT NULL,
    schemaname   VARCHAR2(128 BYTE) NOT NULL,
    tablename    VARCHAR2(128 BYTE) NOT NULL,
    actions      VARCHAR2(4 BYTE)   NOT NULL,
    status       VARCHAR2(10 BYTE)  DEFAULT 'CREATING' NOT NULL,
    repl_key     NUMBER(19)         NOT NULL,
    trigger_name VARCHAR2(128 BYTE) NOT NULL,
    debug        NUMBER(1)          DEFAULT 0 NOT NULL,
    relid        NUMBER             NOT NULL,
    old_images   VARCHAR2(4 BYTE)   DEFAULT 'full' NOT NULL,
    lost         CHAR(1 BYTE)       DEFAULT 'N' NOT NULL,
    CONSTRAINT {tables_key} PRIMARY KEY (catalogname, schemaname, tablename),
    CONSTRAINT {tables_actions} CHECK (actions IN ('I', 'U', 'D', 'IU', 'ID', 'UD', 'IUD', 'NONE')),
    CONSTRAINT {tables_lost} CHECK (lost IN ('N', 'Y'))
)
