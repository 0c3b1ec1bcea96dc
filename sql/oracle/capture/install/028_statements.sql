-- Statements for every node, by their number in the control store: whether the transaction of one was committed, which holds its row,
-- and as of which change number it was swept first, since the log names a transaction by that.
-- Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {statements} (
    id        NUMBER(19)   NOT NULL,
    committed CHAR(1 BYTE) DEFAULT 'N' NOT NULL,
    scn       NUMBER,
    CONSTRAINT {statements_key} PRIMARY KEY (id)
)
