-- Table 2.3 of the guide: the LONG of a changed row, as it is when the change is published. A table has one LONG or LONG RAW at
-- most. Manual: SQL Language Reference, "LONG Data Type", "TO_LOB".
CREATE TABLE {longs_table} (
    repl_key NUMBER(19) NOT NULL,
    content  CLOB,
    bytes    BLOB,
    CONSTRAINT {longs_table_key} PRIMARY KEY (repl_key)
)
