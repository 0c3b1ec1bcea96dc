-- Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {debug_table} (
    repl_key NUMBER(19)          NOT NULL,
    line     VARCHAR2(4000 BYTE) NOT NULL,
    CONSTRAINT {debug_table_key} PRIMARY KEY (repl_key)
)
