-- The tables that the configuration wants, so that one made later is known at once: names, and beginnings of names. Every name
-- begins with the empty text, which is NULL here: for that `tablename` is one blank.
-- Manual: SQL Language Reference, "CREATE TABLE", "Nulls".
CREATE TABLE {wanted} (
    schemaname   VARCHAR2(128 BYTE) NOT NULL,
    tablename    VARCHAR2(128 BYTE) NOT NULL,
    wildcard     CHAR(1 BYTE)       NOT NULL,
    excluded     CHAR(1 BYTE)       NOT NULL,
    actions      VARCHAR2(4 BYTE)   NOT NULL,
    trigger_name VARCHAR2(128 BYTE),
    debug        NUMBER(1)          DEFAULT 0 NOT NULL,
    old_images   VARCHAR2(4 BYTE)   DEFAULT 'full' NOT NULL,
    CONSTRAINT {wanted_key} PRIMARY KEY (schemaname, tablename, wildcard)
)
