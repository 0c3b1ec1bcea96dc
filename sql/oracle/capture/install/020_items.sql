-- Table 2.1 of the guide, and `relid`, the number of the table, which a rename leaves as it is. `guid` is the ROWID of a row
-- with a LONG, which no trigger can read. INITRANS: transactions that write to one block do not wait for each other.
-- Manual: SQL Language Reference, "CREATE TABLE", "LOB_storage_clause".
CREATE TABLE {items} (
    repl_key   NUMBER(19)          NOT NULL,
    trans_key  VARCHAR2(64 BYTE)   NOT NULL,
    dbid       VARCHAR2(128 BYTE),
    tablename  VARCHAR2(128 BYTE)  NOT NULL,
    guid       VARCHAR2(4000 BYTE),
    db_action  VARCHAR2(10 BYTE)   NOT NULL,
    db_catalog VARCHAR2(128 BYTE),
    db_schema  VARCHAR2(128 BYTE),
    content    CLOB,
    oldcontent CLOB,
    version    VARCHAR2(10 BYTE),
    relid      NUMBER              NOT NULL,
    CONSTRAINT {items_key} PRIMARY KEY (repl_key)
) INITRANS 8 LOB (content, oldcontent) STORE AS (ENABLE STORAGE IN ROW CACHE)
