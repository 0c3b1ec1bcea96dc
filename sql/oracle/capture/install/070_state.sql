-- One row: which incarnation of the source this is, the control store that it is captured for, the newest segment whose
-- changes were purged here, and the fence that every publisher locks (R2, R6). NONE stands for no text, since an empty one is
-- NULL. Manual: SQL Language Reference, "CREATE TABLE", "SYS_GUID".
CREATE TABLE {state} (
    only_row    NUMBER(1)         DEFAULT 1 NOT NULL,
    incarnation VARCHAR2(32 BYTE) DEFAULT RAWTOHEX(SYS_GUID()) NOT NULL,
    segment     NUMBER(19)        DEFAULT 0 NOT NULL,
    sha256      VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    epoch       NUMBER(19)        DEFAULT 0 NOT NULL,
    session_id  VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    version     NUMBER(9)         DEFAULT 0 NOT NULL,
    store       VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    CONSTRAINT {state_key} PRIMARY KEY (only_row),
    CONSTRAINT {state_one} CHECK (only_row = 1)
)
