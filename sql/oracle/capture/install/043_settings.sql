-- One row: the part of the configuration that commands go by. Manual: SQL Language Reference, "CREATE TABLE".
CREATE TABLE {settings} (
    only_row        NUMBER(1)    DEFAULT 1 NOT NULL,
    detection       CHAR(1 BYTE) NOT NULL,
    initial_content CHAR(1 BYTE) NOT NULL,
    CONSTRAINT {settings_key} PRIMARY KEY (only_row),
    CONSTRAINT {settings_one} CHECK (only_row = 1)
)
